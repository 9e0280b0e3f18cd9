"use strict";
// The cases of runs. Judged text is untrusted: it enters the page through textContent alone.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  // A line of JSON per case, parsed when the case is looked at: at its opening the page needs their keys alone.
  const lines = [...document.querySelectorAll("script.cases")].flatMap((block) => block.textContent.split("\n"));
  data.keys.forEach((its, at) => { its.at = at; });
  let latest = { at: -1, whole: null };
  function whole(its) {
    if (latest.at !== its.at) latest = { at: its.at, whole: JSON.parse(lines[its.at]) };
    return latest.whole;
  }
  let marks = "quotations";
  const { FLAGS, WINNERS, make, ratingText, caseParts, noteForm, notedRow } = CaseView(data, () => marks);
  const byId = (id) => document.getElementById(id);

  // Notes of the reader, kept by this browser where it allows that.
  const STORE = "autoj-report-" + data.id;
  let notes = {};
  try { notes = JSON.parse(localStorage.getItem(STORE) || "{}"); } catch { notes = {}; }
  function keepNotes() {
    try { localStorage.setItem(STORE, JSON.stringify(notes)); } catch { /* they last until the page is closed */ }
    byId("n-notes").textContent = Object.keys(notes).length;
  }
  function savedNotes() {
    const rows = data.keys.filter((its) => Object.hasOwn(notes, its.id)).map((its) => notedRow(whole(its), notes[its.id]));
    return rows.map((row) => row + "\n").join("");
  }
  function put(id, name, value) {
    const note = { ...notes[id], [name]: value };
    if (Object.values(note).some(Boolean)) notes[id] = note; else delete notes[id];
    keepNotes();
  }

  function texts(keys) {
    const its = whole(keys);
    const parts = [its.id, its.query.text, ...its.responses.map((each) => each.text), ...its.models.map((name) => name || "")];
    for (const verdict of its.verdicts) {
      if (verdict === null) continue;
      for (const critique of verdict.critiques) {
        for (const part of critique.parts) parts.push(part.name, part.text);
        parts.push(critique.closing);
      }
    }
    return parts;
  }
  const ORDERS = {
    unsure: (its) => its.unsure ?? -1,
    disagreement: (its) => (its.flags.includes("differ") ? 2 : 0) + (its.disagreement ?? -1),
    length: (its) => its.length,
  };
  function matches(its, state) {
    if (state.flag === "noted" ? !Object.hasOwn(notes, its.id) : state.flag && !its.flags.includes(state.flag)) return false;
    if (state.scenario.startsWith("group:") ? its.group !== state.scenario.slice(6) : state.scenario && its.scenario !== state.scenario) return false;
    return !state.winner || (its.winner || "none") === state.winner;
  }
  function summary(keys) {
    const its = whole(keys);
    const parts = data.paired ? [WINNERS[keys.winner || "none"]] : [ratingText(its.verdicts[0])];
    // "wrong" may be another run's: the mark belongs to the winner before it.
    if (keys.winner && data.paired && its.label !== null && keys.winner !== its.label) parts.push(`label ${its.label} ✗`);
    else if (its.label !== null) parts.push(`label ${its.label}`);
    for (const flag of ["differ", "disagree", "unreadable", "failed", "unsure"]) if (its.flags.includes(flag)) parts.push(FLAGS[flag]);
    return parts.join(" · ");
  }
  function parts(keys, state) {
    const its = whole(keys);
    marks = state.marks;
    return [...caseParts(its), noteForm(notes[its.id] || {}, (name, value) => put(its.id, name, value))];
  }

  const option = (value, text) => make("option", { value, text });
  const present = new Set(data.keys.flatMap((its) => its.flags));
  for (const [flag, text] of Object.entries(FLAGS)) if (flag === "noted" || present.has(flag)) byId("flag").append(option(flag, text));
  const groups = new Map();
  for (const its of data.keys) {
    if (its.scenario === null) continue;
    const group = its.group || "other";
    if (!groups.has(group)) groups.set(group, new Set());
    groups.get(group).add(its.scenario);
  }
  for (const [group, names] of groups) {
    const part = make("optgroup", { label: group }, option("group:" + group, `all of ${group}`));
    for (const name of [...names].sort()) part.append(option(name, name));
    byId("scenario").append(part);
  }
  if (data.paired) for (const [winner, text] of Object.entries(WINNERS)) byId("winner").append(option(winner, text));
  else byId("winner").parentElement.hidden = true;
  byId("save-notes").addEventListener("click", () => {
    const link = make("a", { download: "notes.jsonl", href: URL.createObjectURL(new Blob([savedNotes()], { type: "application/jsonl" })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  keepNotes();
  ListPage(data.keys, make, {
    rows: "cases", matches, texts, summary, parts,
    title: (its) => `${its.id}: ${whole(its).query.text.slice(0, 120)}`,
    order: (name) => Object.hasOwn(ORDERS, name) ? ORDERS[name] : null,
    empty: { flag: "", scenario: "", winner: "", marks: "quotations" },
    filters: { flag: "flag", scenario: "scenario", winner: "winner" },
    shown: { marks: "marks" },
  });
})();
