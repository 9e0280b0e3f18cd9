"use strict";
// Everything shown comes from the server and is untrusted: it enters the page through textContent alone.
(() => {
  const EMPTY = { view: "overview", q: "", flag: "", scenario: "", winner: "", length: "", confidence: "", sort: "", marks: "quotations", page: "0", row: "" };
  const FILTERS = ["q", "flag", "scenario", "winner", "length", "confidence", "sort"];
  const FIELDS = { search: "q", flag: "flag", scenario: "scenario", winner: "winner", length: "length", confidence: "confidence", sort: "sort", marks: "marks" };
  const data = { paired: true, runs: [] };
  const { FLAGS, WINNERS, make, ratingText, caseParts, noteForm, notedRow } = CaseView(data, () => state.marks);
  const { byId, showPane, scrollToCase, ...panes } = Panes(EMPTY, "row");
  let state = { ...EMPTY };
  let known = null;
  let list = { cases: [], n_found: 0, n_searched: 0, n_to_search: 0 };
  let open = null;

  function readState() {
    state = panes.readState();
    if (!/^\d{1,6}$/.test(state.page)) state.page = "0";
    if (!/^\d{1,12}$/.test(state.row)) state.row = "";
  }
  function writeState() { panes.writeState(state); }

  async function ask(address, signal) {
    const answer = await fetch(address, { signal });
    const found = await answer.json();
    if (!answer.ok) throw new Error(typeof found.error === "string" ? found.error : "the server cannot answer this");
    return found;
  }
  function failed(error) {
    byId("count").textContent = `Not shown: ${error.message}`;
  }

  // Notes of the reader, with their cases, kept by this browser where it allows that.
  let notes = {};
  let store = null;
  function readNotes() {
    store = "autoj-view-" + data.folders;
    try { notes = JSON.parse(localStorage.getItem(store) || "{}"); } catch { notes = {}; }
    byId("n-notes").textContent = Object.keys(notes).length;
  }
  function put(row, name, value) {
    const note = { ...notes[row], [name]: value };
    if (Object.values(note).some(Boolean)) notes[row] = note; else delete notes[row];
    try { localStorage.setItem(store, JSON.stringify(notes)); } catch { /* they last until the page is closed */ }
    byId("n-notes").textContent = Object.keys(notes).length;
  }
  async function saveNotes() {
    const rows = [];
    for (const row of Object.keys(notes)) rows.push(notedRow(await ask(`/api/cases/${Number(row)}`), notes[row]) + "\n");
    const link = make("a", { download: "notes.jsonl", href: URL.createObjectURL(new Blob(rows, { type: "application/jsonl" })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  const number = (value) => value.toLocaleString("en");
  function table(its) {
    const texts = (at) => at < its.n_texts ? { class: "words" } : {};
    const head = make("tr", {}, ...its.headings.map((text, at) => make("th", { scope: "col", text, ...texts(at) })));
    const rows = its.rows.map(([first, ...others]) => make("tr", {}, make("th", { scope: "row", text: first }),
      ...others.map((text, at) => make("td", { text, ...texts(at + 1) }))));
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": its.headings[0] },
      make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
  }
  function drawState() {
    const banners = [];
    for (const run of known.runs) {
      if (run.damage !== null) banners.push(`${run.name}: ${run.damage}`);
      else if (!run.is_whole) banners.push(`${run.name}: ${number(run.n_indexed)} of ${number(run.n_cases)} cases are indexed so far; filters and figures are of these.`);
      if (run.is_running) banners.push(`${run.name} is being written: ${number(run.n_judged)} of ${number(run.n_cases)} cases are judged. This page grows with it.`);
      else if (run.is_whole && run.n_judged < run.n_cases) banners.push(`${run.name} has judged ${number(run.n_judged)} of its ${number(run.n_cases)} cases.`);
    }
    byId("banners").replaceChildren(...banners.map((text) => make("p", { class: "banner", role: "note", text })));
    byId("n-cases").textContent = number(known.runs[0].n_indexed);
    const title = data.runs.join(" and ");
    byId("title").textContent = title;
    document.title = `${title} - autoj view`;
    byId("overview").replaceChildren(...known.runs.map((run) => make("article", { "aria-label": run.name },
      make("h2", { text: run.name }),
      ...run.sections.map((its) => make("section", {}, make("h3", { text: its.title }),
        its.note ? make("p", { class: "note", text: its.note }) : null, ...its.tables.map(table))),
      make("section", {}, make("h3", { text: "What judged" }),
        make("dl", {}, ...run.facts.flatMap(([label, value]) => [make("dt", { text: label }),
          make("dd", {}, label === "again" ? make("code", { text: value }) : value)]))))));
    drawScenarios();
  }
  const option = (value, text) => make("option", { value, text });
  function drawScenarios() {
    const parts = Object.entries(known.groups).map(([group, names]) =>
      make("optgroup", { label: group }, option("group:" + group, `all of ${group}`), ...names.map(([name, text]) => option(name, text))));
    byId("scenario").replaceChildren(option("", "all"), ...parts);
    byId("scenario").value = state.scenario;
  }

  function query() {
    const given = new URLSearchParams({ page: state.page });
    for (const name of FILTERS) if (state[name]) given.set(name, state[name]);
    return given.toString();
  }
  // Asks again until the page is full or every case was searched; a newer question ends an older one.
  let asked = 0, asking = new AbortController(), searching = false;
  async function find() {
    const mine = ++asked;
    asking.abort();
    asking = new AbortController();
    try {
      for (;;) {
        const found = await ask("/api/cases?" + query(), asking.signal);
        if (mine !== asked) return;
        list = found;
        searching = list.n_searched < list.n_to_search && list.n_found <= (Number(state.page) + 1) * 50;
        drawList();
        if (!searching) return;
      }
    } catch (error) { if (mine === asked) failed(error); }
  }
  function progress() {
    const done = `${number(list.n_searched)} of ${number(list.n_to_search)}`;
    if (!searching) return `${done} searched, the others as you turn the pages`;
    return `searching queries, responses, models, ids and critiques: ${done} (${Math.floor(100 * list.n_searched / list.n_to_search)} %); another filter ends it`;
  }
  function drawList() {
    const isAll = list.n_searched === list.n_to_search;
    const page = Number(state.page), last = Math.max(0, Math.ceil(list.n_found / 50) - 1);
    const found = `${number(list.n_found)}${isAll ? "" : " or more"} of ${number(known.runs[0].n_indexed)} cases`;
    byId("count").textContent = isAll ? found : `${found}; ${progress()}`;
    byId("page").textContent = `${number(page + 1)} of ${number(last + 1)}${isAll ? "" : " or more"}`;
    byId("earlier").disabled = page === 0;
    byId("later").disabled = page >= last;
    byId("list").replaceChildren(...list.cases.map((its) => {
      const button = make("button", { type: "button", on: ["click", () => show(its.row, true)] },
        make("span", { class: "what", text: `${its.id}: ${its.query}` }),
        make("span", { class: "more", text: summary(its) }));
      return make("li", String(its.row) === state.row ? { "aria-current": "true" } : {}, button);
    }));
  }
  function summary(its) {
    const parts = [data.paired ? WINNERS[its.winner || "none"] : ratingText(its)];
    if (its.flags.includes("wrong")) parts.push(`label ${its.label} ✗`);
    else if (its.label !== null) parts.push(`label ${its.label}`);
    for (const flag of ["differ", "disagree", "unreadable", "failed", "unsure"]) if (its.flags.includes(flag)) parts.push(FLAGS[flag]);
    return parts.join(" · ");
  }

  let wanted = 0;
  async function drawCase() {
    const mine = ++wanted, row = state.row;
    if (row === "") { byId("case").replaceChildren(make("p", { class: "faint", text: "Choose a case." })); return; }
    try { open = await ask(`/api/cases/${row}`); } catch (error) { open = null; if (mine === wanted) byId("case").replaceChildren(make("p", { class: "faint", text: error.message })); return; }
    if (mine === wanted) placeCase();
  }
  function placeCase() {
    const row = state.row;
    byId("case").replaceChildren(...caseParts(open), noteForm(notes[row] || {}, (name, value) => put(row, name, value)));
    byId("case").dataset.row = row;
  }
  function show(row, focus) {
    state.row = String(row);
    writeState();
    drawList();
    drawCase();
    if (focus) scrollToCase();
  }
  async function step(by) {
    const place = list.cases.findIndex((its) => String(its.row) === state.row);
    const next = place < 0 ? 0 : place + by;
    if (next >= 0 && next < list.cases.length) { show(list.cases[next].row, false); return; }
    if (place < 0 || (next < 0 && state.page === "0") || (next > 0 && byId("later").disabled)) return;
    await turn(by);
    if (list.cases.length) show(list.cases[by > 0 ? 0 : list.cases.length - 1].row, false);
  }
  async function turn(by) {
    state.page = String(Math.max(0, Number(state.page) + by));
    writeState();
    await find();
  }
  function view(name) {
    state.view = name;
    writeState();
    showPane(name);
  }
  function refilter() {
    state.page = "0";
    writeState();
    return find();
  }
  function showState() {
    for (const [id, name] of Object.entries(FIELDS)) byId(id).value = state[name];
    view(state.view === "cases" ? "cases" : "overview");
    find();
    drawCase();
  }

  function addFilter(id, label, values) {
    const select = make("select", { id }, option("", "any"), ...Object.entries(values).map(([value, text]) => option(value, text)));
    byId("winner").parentElement.after(make("label", {}, label + " ", select));
  }
  function fillFilters() {
    for (const [flag, text] of Object.entries(FLAGS)) if (flag !== "noted" && (flag !== "differ" || data.runs.length > 1)) byId("flag").append(option(flag, text));
    if (!data.paired) { byId("winner").parentElement.hidden = true; return; }
    for (const [winner, text] of Object.entries(WINNERS)) byId("winner").append(option(winner, text));
    addFilter("confidence", "Sure", { "under-50": "under 50 %", "50-70": "50 to 70 %", "70-90": "70 to 90 %", "over-90": "over 90 %" });
    addFilter("length", "Length", { "a-much-shorter": "a over 50 % shorter", "a-shorter": "a 10 to 50 % shorter", alike: "about as long", "b-shorter": "b 10 to 50 % shorter", "b-much-shorter": "b over 50 % shorter" });
  }
  function listen() {
    let waiting = 0;
    byId("search").addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => { state.q = byId("search").value; refilter(); }, 200);
    });
    for (const id of Object.keys(FIELDS)) {
      if (id === "search" || id === "marks" || byId(id) === null) continue;
      byId(id).addEventListener("change", () => { state[FIELDS[id]] = byId(id).value; refilter(); });
    }
    byId("marks").addEventListener("change", () => { state.marks = byId("marks").value; writeState(); if (open !== null && state.row !== "") placeCase(); });
    byId("reset").addEventListener("click", () => { state = { ...EMPTY, view: "cases", row: state.row }; writeState(); showState(); });
    byId("earlier").addEventListener("click", () => turn(-1));
    byId("later").addEventListener("click", () => turn(1));
    byId("save-notes").addEventListener("click", () => saveNotes().catch(failed));
    panes.listen({ view, step, again: () => { readState(); showState(); } });
  }

  async function refresh() {
    known = await ask("/api/state");
    data.paired = known.paired;
    data.runs = known.runs.map((run) => run.name);
    data.folders = known.runs.flatMap((run) => run.facts.filter(([label]) => label === "folder" || label === "settings").map(([, value]) => value)).join("|");
    drawState();
  }
  async function start() {
    await refresh();
    fillFilters();
    listen();
    readNotes();
    readState();
    showState();
    let seen = known.version;
    let busy = false;
    // Events that come while the page is being brought up to date are answered by the next one.
    new EventSource("/api/events").addEventListener("message", async (event) => {
      if (busy || Number(event.data) === seen) return;
      busy = true;
      try {
        await refresh();
        seen = known.version;
        await find();
        if (state.row !== "" && open === null) await drawCase();
      } catch (error) { failed(error); } finally { busy = false; }
    });
  }
  start().catch(failed);
})();
