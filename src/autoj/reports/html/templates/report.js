"use strict";
// Judged text is untrusted: it enters the page through textContent alone.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { FLAGS, WINNERS, make, ratingText, caseParts, noteForm, notedRow } = CaseView(data, () => state.marks);
  const byId = (id) => document.getElementById(id);
  const PAGE = 50;
  // State: in the address after "#", so that a link opens the same view of the same case.
  const EMPTY = { view: "overview", q: "", flag: "", scenario: "", winner: "", sort: "", marks: "quotations", id: "" };
  let state = { ...EMPTY };
  let shown = data.cases.map((_, at) => at);
  let page = 0;

  function readState() {
    const given = new URLSearchParams(location.hash.slice(1));
    state = { ...EMPTY };
    for (const name of Object.keys(EMPTY)) if (given.has(name)) state[name] = given.get(name);
    if (state.id && !given.has("view")) state.view = "cases";
  }
  function writeState() {
    const kept = new URLSearchParams();
    for (const [name, value] of Object.entries(state)) if (value !== EMPTY[name]) kept.set(name, value);
    history.replaceState(null, "", "#" + kept.toString());
  }

  // Notes of the reader, kept by this browser where it allows that.
  const STORE = "autoj-report-" + data.id;
  let notes = {};
  try { notes = JSON.parse(localStorage.getItem(STORE) || "{}"); } catch { notes = {}; }
  function keepNotes() {
    try { localStorage.setItem(STORE, JSON.stringify(notes)); } catch { /* they last until the page is closed */ }
    byId("n-notes").textContent = Object.keys(notes).length;
  }
  function savedNotes() {
    const rows = data.cases.filter((its) => Object.hasOwn(notes, its.id)).map((its) => notedRow(its, notes[its.id]));
    return rows.map((row) => row + "\n").join("");
  }

  // The texts of each case in lower case, made when they are first searched.
  const haystacks = new Array(data.cases.length);
  function haystack(at) {
    if (haystacks[at] === undefined) {
      const its = data.cases[at];
      const parts = [its.id, its.query.text, ...its.responses.map((each) => each.text), ...its.models.map((name) => name || "")];
      for (const verdict of its.verdicts) {
        if (verdict === null) continue;
        for (const critique of verdict.critiques) {
          for (const part of critique.parts) parts.push(part.name, part.text);
          parts.push(critique.closing);
        }
      }
      haystacks[at] = parts.join("\n").toLowerCase();
    }
    return haystacks[at];
  }

  function winnerOf(its) {
    const verdict = its.verdicts[0];
    return verdict && verdict.winner ? verdict.winner : "none";
  }
  function most(its, name) {
    return Math.max(...its.verdicts.map((verdict) => verdict && verdict[name] !== null ? verdict[name] : -1));
  }
  const ORDERS = {
    unsure: (its) => most(its, "unsure"),
    disagreement: (its) => (its.flags.includes("differ") ? 2 : 0) + most(its, "disagreement"),
    length: (its) => Math.max(0, ...its.responses.map((each) => each.text.length + each.n_cut)),
  };

  function applyFilters() {
    const wanted = state.q.toLowerCase();
    shown = [];
    data.cases.forEach((its, at) => {
      if (state.flag === "noted" ? !Object.hasOwn(notes, its.id) : state.flag && !its.flags.includes(state.flag)) return;
      if (state.scenario.startsWith("group:") ? its.group !== state.scenario.slice(6) : state.scenario && its.scenario !== state.scenario) return;
      if (state.winner && winnerOf(its) !== state.winner) return;
      if (wanted && !haystack(at).includes(wanted)) return;
      shown.push(at);
    });
    if (Object.hasOwn(ORDERS, state.sort)) {
      const value = new Map(shown.map((at) => [at, ORDERS[state.sort](data.cases[at])]));
      shown.sort((one, other) => value.get(other) - value.get(one) || one - other);
    }
    const place = shown.findIndex((at) => data.cases[at].id === state.id);
    page = place < 0 ? 0 : Math.floor(place / PAGE);
  }

  function drawList() {
    const last = Math.max(0, Math.ceil(shown.length / PAGE) - 1);
    page = Math.min(page, last);
    byId("count").textContent = `${shown.length.toLocaleString("en")} of ${data.cases.length.toLocaleString("en")} cases`;
    byId("page").textContent = `${page + 1} of ${last + 1}`;
    byId("earlier").disabled = page === 0;
    byId("later").disabled = page === last;
    byId("list").replaceChildren(...shown.slice(page * PAGE, (page + 1) * PAGE).map((at) => {
      const its = data.cases[at];
      const button = make("button", { type: "button", on: ["click", () => open(its.id, true)] },
        make("span", { class: "what", text: `${its.id}: ${its.query.text.slice(0, 120)}` }),
        make("span", { class: "more", text: summary(its) }));
      return make("li", its.id === state.id ? { "aria-current": "true" } : {}, button);
    }));
  }
  function summary(its) {
    const parts = data.paired ? [WINNERS[winnerOf(its)]] : [ratingText(its.verdicts[0])];
    if (its.flags.includes("wrong")) parts.push(`label ${its.label} ✗`);
    else if (its.label !== null) parts.push(`label ${its.label}`);
    for (const flag of ["differ", "disagree", "unreadable", "failed", "unsure"]) if (its.flags.includes(flag)) parts.push(FLAGS[flag]);
    return parts.join(" · ");
  }
  function drawCase() {
    const its = data.cases.find((each) => each.id === state.id);
    const box = byId("case");
    if (!its) { box.replaceChildren(make("p", { class: "faint", text: "Choose a case." })); return; }
    box.replaceChildren(...caseParts(its), noteForm(notes[its.id] || {}, (name, value) => put(its.id, name, value)));
  }
  function put(id, name, value) {
    const note = { ...notes[id], [name]: value };
    if (Object.values(note).some(Boolean)) notes[id] = note; else delete notes[id];
    keepNotes();
  }

  function open(id, focus) {
    state.id = id;
    writeState();
    drawCase();
    for (const item of byId("list").children) item.removeAttribute("aria-current");
    const place = shown.findIndex((at) => data.cases[at].id === id);
    if (place >= 0 && Math.floor(place / PAGE) !== page) page = Math.floor(place / PAGE);
    drawList();
    if (focus && matchMedia("(max-width: 760px)").matches) byId("case").scrollIntoView();
  }
  function step(by) {
    if (!shown.length) return;
    const place = shown.findIndex((at) => data.cases[at].id === state.id);
    const next = place < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, place + by));
    open(data.cases[shown[next]].id, false);
  }
  function view(name) {
    state.view = name;
    writeState();
    byId("overview").hidden = name !== "overview";
    byId("cases").hidden = name !== "cases";
    byId("show-overview").setAttribute("aria-pressed", String(name === "overview"));
    byId("show-cases").setAttribute("aria-pressed", String(name === "cases"));
  }
  function refilter() {
    page = 0;
    applyFilters();
    writeState();
    drawList();
  }
  const FIELDS = { search: "q", flag: "flag", scenario: "scenario", winner: "winner", sort: "sort", marks: "marks" };
  function showState() {
    for (const [id, name] of Object.entries(FIELDS)) byId(id).value = state[name];
    view(state.view === "cases" ? "cases" : "overview");
    applyFilters();
    drawList();
    drawCase();
  }

  const option = (value, text) => make("option", { value, text });
  const present = new Set(data.cases.flatMap((its) => its.flags));
  for (const [flag, text] of Object.entries(FLAGS)) if (flag === "noted" || present.has(flag)) byId("flag").append(option(flag, text));
  const groups = new Map();
  for (const its of data.cases) {
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

  let waiting = 0;
  byId("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { state.q = byId("search").value; refilter(); }, 80);
  });
  for (const id of ["flag", "scenario", "winner", "sort"]) byId(id).addEventListener("change", () => { state[FIELDS[id]] = byId(id).value; refilter(); });
  byId("marks").addEventListener("change", () => { state.marks = byId("marks").value; writeState(); drawCase(); });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("reset").addEventListener("click", () => { state = { ...EMPTY, view: "cases", id: state.id }; writeState(); showState(); });
  byId("earlier").addEventListener("click", () => { page -= 1; drawList(); });
  byId("later").addEventListener("click", () => { page += 1; drawList(); });
  byId("show-overview").addEventListener("click", () => view("overview"));
  byId("show-cases").addEventListener("click", () => view("cases"));
  byId("help-button").addEventListener("click", () => byId("help").showModal());
  byId("help-close").addEventListener("click", () => byId("help").close());
  byId("save-notes").addEventListener("click", () => {
    const link = make("a", { download: "notes.jsonl", href: URL.createObjectURL(new Blob([savedNotes()], { type: "application/jsonl" })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  addEventListener("hashchange", () => { readState(); showState(); });
  addEventListener("keydown", (event) => {
    const field = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey || (field && event.key !== "Escape")) return;
    if (event.key === "Escape" && field) event.target.blur();
    else if (event.key === "j") { view("cases"); step(1); }
    else if (event.key === "k") { view("cases"); step(-1); }
    else if (event.key === "o") view("overview");
    else if (event.key === "c") view("cases");
    else if (event.key === "?") byId("help").showModal();
    else if (event.key === "/") { event.preventDefault(); view("cases"); byId("search").focus(); }
  });
  keepNotes();
  readState();
  showState();
})();
