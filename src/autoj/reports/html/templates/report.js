"use strict";
// Judged text is untrusted: it enters the page through textContent alone.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const PAGE = 50;
  const FLAGS = {
    wrong: "against the label", disagree: "orders or judges disagree", differ: "runs differ",
    unreadable: "unreadable", failed: "failed", unsure: "unsure", close: "close ratings",
    truncated: "a response was cut to fit", noted: "with your note",
  };
  const WINNERS = { a: "a wins", b: "b wins", tie: "tie", none: "no winner" };

  function make(tag, options, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(options || {})) {
      if (name === "class") node.className = value;
      else if (name === "text") node.textContent = value;
      else if (name === "on") node.addEventListener(value[0], value[1]);
      else node.setAttribute(name, value);
    }
    for (const child of children) if (child !== null) node.append(child);
    return node;
  }

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
    const rows = data.cases.filter((its) => Object.hasOwn(notes, its.id)).map((its) => {
      const note = notes[its.id];
      const row = {
        id: its.id, query: its.query.text,
        responses: its.responses.map((each, at) => its.models[at] === null ? each.text : { text: each.text, model: its.models[at] }),
        label: note.winner || its.label, scenario: its.scenario, source: its.source,
        meta: { note: note.comment || null, thumbs: note.thumbs || null, label_before: its.label,
          verdicts: Object.fromEntries(data.runs.map((name, at) => [name, its.verdicts[at] ? its.verdicts[at].winner : null])) },
      };
      const cut = its.query.n_cut + its.responses.reduce((sum, each) => sum + each.n_cut, 0);
      if (cut) row.meta.n_characters_cut = cut;
      return JSON.stringify(row);
    });
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
  function ratingText(verdict) {
    if (!verdict) return "not judged";
    return "rated " + verdict.ratings.map((each) => each === null ? "unreadable" : each).join(", ");
  }

  function drawCase() {
    const its = data.cases.find((each) => each.id === state.id);
    const box = byId("case");
    if (!its) { box.replaceChildren(make("p", { class: "faint", text: "Choose a case." })); return; }
    const parts = [make("h2", { text: its.id }), tags(its), make("h3", { text: "Query" }), block(its.query, [])];
    parts.push(make("div", { class: "pair" }, ...responses(its)));
    parts.push(make("div", { class: "judges" }, ...its.verdicts.map((verdict, at) => judged(its, verdict, data.runs[at]))));
    parts.push(noteForm(its));
    box.replaceChildren(...parts);
  }
  function tags(its) {
    const row = make("p", {});
    const add = (text, bad) => row.append(make("span", { class: bad ? "tag bad" : "tag", text }));
    if (its.scenario !== null) add(its.scenario);
    if (its.label !== null) add(`label ${its.label}`);
    if (its.source !== null) add(its.source);
    for (const flag of its.flags) add(FLAGS[flag] || flag, flag !== "unsure" && flag !== "close");
    return row;
  }

  // Pieces of a text: [text, tag or null].
  function block(text, pieces) {
    const node = make("div", { class: "text", tabindex: "0" });
    if (!text.text.trim()) node.append(make("span", { class: "faint", text: "(empty)" }));
    else if (pieces.length) for (const [piece, tag] of pieces) node.append(tag === null ? piece : make(tag, { text: piece }));
    else node.textContent = text.text;
    if (text.n_cut) node.append(make("p", { class: "faint", text: `… ${text.n_cut.toLocaleString("en")} more characters are in the run's folder.` }));
    return node;
  }
  function responses(its) {
    const pieces = piecesOf(its);
    return its.responses.map((response, at) => {
      const name = data.paired ? `Response ${"ab"[at]}` : `Response ${at + 1}`;
      const won = data.paired && its.verdicts[0] && its.verdicts[0].winner === "ab"[at];
      const text = block(response, pieces[at]);
      if (won) text.classList.add("won");
      const model = its.models[at] === null ? "" : ` (${its.models[at]})`;
      return make("div", {}, make("h3", { text: name + model + (won ? ", the winner" : "") }), text);
    });
  }
  function piecesOf(its) {
    const plain = its.responses.map(() => []);
    if (state.marks === "differences" && its.responses.length === 2) {
      const found = Diff.diffWordsWithSpace(its.responses[0].text, its.responses[1].text, { maxEditLength: 3000, timeout: 500 });
      if (!found) return plain;
      return [
        found.filter((part) => !part.added).map((part) => [part.value, part.removed ? "del" : null]),
        found.filter((part) => !part.removed).map((part) => [part.value, part.added ? "ins" : null]),
      ];
    }
    if (state.marks !== "quotations") return plain;
    return its.responses.map((response, at) => marked(response.text, quotedFrom(its, at)));
  }
  function quotedFrom(its, at) {
    const found = new Set();
    for (const verdict of its.verdicts) {
      if (verdict === null) continue;
      for (const critique of verdict.critiques) for (const part of critique.parts) for (const each of part.quotations) {
        if (each.responses.includes(at)) found.add(each.text);
      }
    }
    return [...found];
  }
  function marked(text, quoted) {
    const spans = [];
    const lower = text.toLowerCase();
    for (const each of quoted) {
      const at = lower.indexOf(each.toLowerCase());
      if (at >= 0) spans.push([at, at + each.length]);
    }
    spans.sort((one, other) => one[0] - other[0]);
    const pieces = [];
    let end = 0;
    for (const [from, to] of spans) {
      if (to <= end) continue;
      const start = Math.max(from, end);
      if (start > end) pieces.push([text.slice(end, start), null]);
      pieces.push([text.slice(start, to), "mark"]);
      end = to;
    }
    if (pieces.length && end < text.length) pieces.push([text.slice(end), null]);
    return pieces;
  }

  const share = (value) => (100 * value).toFixed(1) + " %";
  function chances([a, b, tie]) { return `a ${share(a)}, b ${share(b)}, tie ${share(tie)}`; }
  function judged(its, verdict, name) {
    const box = make("section", {}, make("h3", { text: name }));
    if (!verdict) { box.append(make("p", { class: "faint", text: "Not judged." })); return box; }
    const facts = make("dl", {});
    const fact = (label, value) => facts.append(make("dt", { text: label }), make("dd", { text: value }));
    if (data.paired) fact("winner", WINNERS[verdict.winner || "none"] + (verdict.rule ? ` (${verdict.rule})` : ""));
    if (verdict.probabilities) fact("probabilities", chances(verdict.probabilities));
    if (verdict.ratings.length) fact(data.paired ? "ratings of a and b" : "rating", verdict.ratings.map((each) => each === null ? "unreadable" : each).join(", "));
    for (const judgment of verdict.judgments) {
      const says = data.paired && Object.hasOwn(WINNERS, judgment.reading) ? WINNERS[judgment.reading] : judgment.reading;
      fact(`shown ${judgment.page}`, says + (judgment.probabilities ? ` (${chances(judgment.probabilities)})` : "") + (judgment.tokens ? `; ${judgment.tokens}` : ""));
      if (judgment.raw !== null) facts.append(make("dt", { text: "answer" }), make("dd", {}, make("div", { class: "text", tabindex: "0", text: judgment.raw })));
    }
    box.append(facts);
    for (const critique of verdict.critiques) box.append(critiqueOf(critique));
    return box;
  }
  function critiqueOf(critique) {
    const box = make("div", {}, make("h4", { text: data.paired ? "Critique (Response 1 is a, Response 2 is b)" : "Critique" }));
    for (const part of critique.parts) {
      const node = make("div", { class: "factor" });
      if (part.name) node.append(make("strong", { text: part.name + ": " }));
      node.append(part.text);
      if (part.quotations.length) {
        node.append(make("ul", { class: "quotes" }, ...part.quotations.map((each) => {
          const where = each.responses.length ? "in " + each.responses.map((at) => data.paired ? "ab"[at] : `response ${at + 1}`).join(" and ") : "in no response";
          return make("li", each.responses.length ? {} : { class: "tag bad" }, make("q", { text: each.text }), ` ${where}`);
        })));
      }
      box.append(node);
    }
    if (critique.closing) box.append(make("p", { text: critique.closing }));
    return box;
  }

  function noteForm(its) {
    const note = notes[its.id] || {};
    const choose = (label, name, options) => {
      const select = make("select", { on: ["change", () => put(its.id, name, select.value)] });
      for (const [value, text] of options) select.append(make("option", { value, text }));
      select.value = note[name] || "";
      return make("label", {}, label, select);
    };
    const comment = make("input", { type: "text", maxlength: "2000", on: ["change", () => put(its.id, "comment", comment.value)] });
    comment.value = note.comment || "";
    return make("div", { class: "note-form" },
      choose("The judge is", "thumbs", [["", "-"], ["up", "👍 right"], ["down", "👎 wrong"]]),
      data.paired ? choose("Better response", "winner", [["", "-"], ["a", "a"], ["b", "b"], ["tie", "tie"]]) : null,
      make("label", {}, "Comment", comment));
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
