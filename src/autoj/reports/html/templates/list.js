"use strict";
// A page's list of rows: filters, order, pages, keys, and a state in the address. `kind` says what a row is.
const ListPage = (rows, make, kind) => {
  const byId = (id) => document.getElementById(id);
  const PAGE = 50;
  // State: in the address after "#", so that a link opens the same view of the same row.
  const EMPTY = { view: "overview", q: "", ...kind.empty, sort: "", id: "" };
  const FIELDS = { search: "q", ...kind.filters, sort: "sort", ...kind.shown };
  let state = { ...EMPTY };
  let shown = rows.map((_, at) => at);
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

  // The texts of each row in lower case, made while the page has nothing else to do, or when they are first searched.
  const haystacks = new Array(rows.length);
  function haystack(at) {
    if (haystacks[at] === undefined) haystacks[at] = kind.texts(rows[at]).join("\n").toLowerCase();
    return haystacks[at];
  }
  const whenIdle = window.requestIdleCallback || ((act) => setTimeout(act, 50));
  function makeHaystacks(from) {
    const until = performance.now() + 10;
    let at = from;
    while (at < rows.length && performance.now() < until) haystack(at++);
    if (at < rows.length) whenIdle(() => makeHaystacks(at));
  }
  function applyFilters() {
    const wanted = state.q.toLowerCase();
    shown = [];
    rows.forEach((its, at) => {
      if (kind.matches(its, state) && (!wanted || haystack(at).includes(wanted))) shown.push(at);
    });
    const order = kind.order(state.sort);
    if (order) {
      const value = new Map(shown.map((at) => [at, order(rows[at])]));
      shown.sort((one, other) => value.get(other) - value.get(one) || one - other);
    }
    page = Math.max(0, Math.floor(place(state.id) / PAGE));
  }
  function place(id) { return shown.findIndex((at) => rows[at].id === id); }

  function drawList() {
    const last = Math.max(0, Math.ceil(shown.length / PAGE) - 1);
    page = Math.min(page, last);
    byId("count").textContent = `${shown.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} ${kind.rows}`;
    byId("page").textContent = `${page + 1} of ${last + 1}`;
    byId("earlier").disabled = page === 0;
    byId("later").disabled = page === last;
    byId("list").replaceChildren(...shown.slice(page * PAGE, (page + 1) * PAGE).map((at) => {
      const its = rows[at];
      const button = make("button", { type: "button", on: ["click", () => open(its.id, true)] },
        make("span", { class: "what", text: kind.title(its) }), make("span", { class: "more", text: kind.summary(its) }));
      return make("li", its.id === state.id ? { "aria-current": "true" } : {}, button);
    }));
  }
  function drawCase() {
    const its = rows.find((each) => each.id === state.id);
    byId("case").replaceChildren(...(its ? kind.parts(its, state) : [make("p", { class: "faint", text: "Choose one from the list." })]));
  }

  function open(id, focus) {
    state.id = id;
    writeState();
    drawCase();
    const at = place(id);
    if (at >= 0) page = Math.floor(at / PAGE);
    drawList();
    if (focus && matchMedia("(max-width: 760px)").matches) byId("case").scrollIntoView();
  }
  function step(by) {
    if (!shown.length) return;
    const at = place(state.id);
    const next = at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + by));
    open(rows[shown[next]].id, false);
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
  function showState() {
    for (const [id, name] of Object.entries(FIELDS)) byId(id).value = state[name];
    view(state.view === "cases" ? "cases" : "overview");
    applyFilters();
    drawList();
    drawCase();
  }

  let waiting = 0;
  byId("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { state.q = byId("search").value; refilter(); }, 80);
  });
  for (const id of [...Object.keys(kind.filters), "sort"]) byId(id).addEventListener("change", () => { state[FIELDS[id]] = byId(id).value; refilter(); });
  for (const id of Object.keys(kind.shown)) byId(id).addEventListener("change", () => { state[FIELDS[id]] = byId(id).value; writeState(); drawCase(); });
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("reset").addEventListener("click", () => { state = { ...EMPTY, view: "cases", id: state.id }; writeState(); showState(); });
  byId("earlier").addEventListener("click", () => { page -= 1; drawList(); });
  byId("later").addEventListener("click", () => { page += 1; drawList(); });
  byId("show-overview").addEventListener("click", () => view("overview"));
  byId("show-cases").addEventListener("click", () => view("cases"));
  byId("help-button").addEventListener("click", () => byId("help").showModal());
  byId("help-close").addEventListener("click", () => byId("help").close());
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
  readState();
  showState();
  whenIdle(() => makeHaystacks(0));
};
