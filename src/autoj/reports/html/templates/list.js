"use strict";
// A page's list of rows: filters, order, pages, keys, and a state in the address. `kind` says what a row is.
const ListPage = (rows, make, kind) => {
  const PAGE = 50;
  const EMPTY = { view: "overview", q: "", ...kind.empty, sort: "", id: "" };
  const FIELDS = { search: "q", ...kind.filters, sort: "sort", ...kind.shown };
  const { byId, showPane, scrollToCase, ...panes } = Panes(EMPTY, "id");
  let state = { ...EMPTY };
  let shown = rows.map((_, at) => at);
  let page = 0;

  function readState() { state = panes.readState(); }
  function writeState() { panes.writeState(state); }

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
    if (focus) scrollToCase();
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
    showPane(name);
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
  byId("reset").addEventListener("click", () => { state = { ...EMPTY, view: "cases", id: state.id }; writeState(); showState(); });
  byId("earlier").addEventListener("click", () => { page -= 1; drawList(); });
  byId("later").addEventListener("click", () => { page += 1; drawList(); });
  panes.listen({ view, step, again: () => { readState(); showState(); } });
  readState();
  showState();
  whenIdle(() => makeHaystacks(0));
};
