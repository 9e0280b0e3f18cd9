"use strict";
// What pages with a list share: two panes, a state in the address after "#", so that a link opens the same view, and keys.
// `empty` is the state of a page that nobody has touched, `chosen` the part of it that names the open row.
const Panes = (empty, chosen) => {
  const byId = (id) => document.getElementById(id);

  function readState() {
    const given = new URLSearchParams(location.hash.slice(1));
    const state = { ...empty };
    for (const name of Object.keys(empty)) if (given.has(name)) state[name] = given.get(name);
    if (state[chosen] && !given.has("view")) state.view = "cases";
    return state;
  }
  function writeState(state) {
    const kept = new URLSearchParams();
    for (const [name, value] of Object.entries(state)) if (value !== empty[name]) kept.set(name, value);
    history.replaceState(null, "", "#" + kept.toString());
  }
  function showPane(name) {
    for (const pane of ["overview", "cases"]) {
      byId(pane).hidden = name !== pane;
      byId("show-" + pane).setAttribute("aria-pressed", String(name === pane));
    }
  }
  function scrollToCase() {
    if (matchMedia("(max-width: 760px)").matches) byId("case").scrollIntoView();
  }
  // `view` opens a pane, `step` the next or the previous row, `again` reads the address.
  function listen({ view, step, again }) {
    byId("filters").addEventListener("submit", (event) => event.preventDefault());
    byId("show-overview").addEventListener("click", () => view("overview"));
    byId("show-cases").addEventListener("click", () => view("cases"));
    byId("help-button").addEventListener("click", () => byId("help").showModal());
    byId("help-close").addEventListener("click", () => byId("help").close());
    addEventListener("hashchange", again);
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
  }
  return { byId, readState, writeState, showPane, scrollToCase, listen };
};
