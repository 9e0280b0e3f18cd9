"use strict";
// The rows of a run without verdicts on pairs. All text is untrusted: it enters the page through textContent alone.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { make, block } = CaseView({ paired: false, runs: [] }, () => "");

  function table(its) {
    const cells = (tag, row) => row.map((text, at) => make(tag, { text, ...(at < its.n_texts ? { class: "words" } : {}), ...(tag === "th" ? { scope: "col" } : {}) }));
    return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": its.headings.join(", ") },
      make("table", {}, make("thead", {}, make("tr", {}, ...cells("th", its.headings))),
        make("tbody", {}, ...its.rows.map((row) => make("tr", {}, ...cells("td", row))))));
  }
  function text(its) {
    const body = block(its.text, []);
    if (its.chosen) body.classList.add("won");
    return make("div", {}, make("h3", { text: its.heading }), body);
  }
  function parts(its) {
    const tags = make("p", {}, ...its.tags.map(([name, bad]) => make("span", { class: bad ? "tag bad" : "tag", text: name })));
    const facts = make("dl", {}, ...its.facts.flatMap(([label, value]) => [make("dt", { text: label }), make("dd", { text: value })]));
    return [make("h2", { text: its.id }), tags, facts, ...(its.query === null ? [] : [make("h3", { text: "Query" }), block(its.query, [])]),
      ...its.tables.map(table), make("div", { class: "pair" }, ...its.texts.map(text))];
  }
  const names = data.filters;
  ListPage(data.entries, make, {
    rows: data.noun, parts,
    matches: (its, state) => names.every((name) => !state[name] || its.values[name].includes(state[name])),
    texts: (its) => [its.id, its.summary, its.query === null ? "" : its.query.text, ...its.texts.map((each) => each.text.text), ...its.tags.map(([name]) => name), ...its.facts.map(([, value]) => value)],
    title: (its) => `${its.id}: ${its.query === null ? "" : its.query.text.slice(0, 120)}`,
    summary: (its) => its.summary,
    order: (name) => data.orders.includes(name) ? (its) => its.numbers[name] : null,
    empty: Object.fromEntries(names.map((name) => [name, ""])),
    filters: Object.fromEntries(names.map((name) => ["filter-" + name, name])),
    shown: {},
  });
})();
