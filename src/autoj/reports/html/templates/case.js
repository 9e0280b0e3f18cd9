"use strict";
// A case on a page, of a report or of a server. Judged text enters through textContent alone.
const CaseView = (data, marks) => {
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

  function ratingText(verdict) {
    if (!verdict) return "not judged";
    return "rated " + verdict.ratings.map((each) => each === null ? "none" : each).join(", ");
  }

  function caseParts(its) {
    return [
      make("h2", { text: its.id }), tags(its), make("h3", { text: "Query" }), block(its.query, []),
      make("div", { class: "pair" }, ...responses(its)),
      make("div", { class: "judges" }, ...its.verdicts.map((verdict, at) => judged(its, verdict, data.runs[at]))),
    ];
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
    if (marks() === "differences" && its.responses.length === 2) {
      const found = Diff.diffWordsWithSpace(its.responses[0].text, its.responses[1].text, { maxEditLength: 3000, timeout: 500 });
      if (!found) return plain;
      return [
        found.filter((part) => !part.added).map((part) => [part.value, part.removed ? "del" : null]),
        found.filter((part) => !part.removed).map((part) => [part.value, part.added ? "ins" : null]),
      ];
    }
    if (marks() !== "quotations") return plain;
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
    if (verdict.ratings.length) fact(data.paired ? "ratings of a and b" : "rating", verdict.ratings.map((each) => each === null ? "none" : each).join(", "));
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

  function noteForm(note, put) {
    const choose = (label, name, options) => {
      const select = make("select", { on: ["change", () => put(name, select.value)] });
      for (const [value, text] of options) select.append(make("option", { value, text }));
      select.value = note[name] || "";
      return make("label", {}, label, select);
    };
    const comment = make("input", { type: "text", maxlength: "2000", on: ["change", () => put("comment", comment.value)] });
    comment.value = note.comment || "";
    return make("div", { class: "note-form" },
      choose("The judge is", "thumbs", [["", "-"], ["up", "👍 right"], ["down", "👎 wrong"]]),
      data.paired ? choose("Better response", "winner", [["", "-"], ["a", "a"], ["b", "b"], ["tie", "tie"]]) : null,
      make("label", {}, "Comment", comment));
  }
  // A case with a note, as `autoj bench pairs` and `autoj construct` read it.
  function notedRow(its, note) {
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
  }

  return { FLAGS, WINNERS, make, block, ratingText, caseParts, noteForm, notedRow };
};
