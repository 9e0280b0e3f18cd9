"use strict";
// Judged text is untrusted: it enters the page through textContent alone.
(() => {
  const byId = (id) => document.getElementById(id);
  let stop = null;

  function headers() {
    const key = byId("key").value;
    const json = { "Content-Type": "application/json" };
    return key ? { ...json, Authorization: "Bearer " + key } : json;
  }

  async function listJudges() {
    const answer = await fetch("/v1/judges", { headers: headers() });
    if (!answer.ok) return;
    byId("judge").replaceChildren(...(await answer.json()).judges.map((judge) => {
      const option = document.createElement("option");
      option.value = option.textContent = judge.name;
      return option;
    }));
  }

  function answerBox(number) {
    let box = byId("answer-" + number);
    if (box === null) {
      box = document.createElement("pre");
      box.id = "answer-" + number;
      box.className = "text";
      byId("answers").append(box);
    }
    return box;
  }

  function fact(name, value) {
    const term = document.createElement("dt"), text = document.createElement("dd");
    term.textContent = name;
    text.textContent = value;
    byId("facts").append(term, text);
  }

  const rounded = (values) => values.map((value) => (value === null ? "none" : value.toFixed(2))).join(", ");

  function showVerdict(row) {
    const rated = row.ratings.length > 0 && row.ratings[0] !== null;
    byId("outcome").textContent = row.state !== "judged" ? "The judgment is " + row.state + "."
      : row.winner === "tie" ? "A tie" : row.winner !== null ? row.winner + " wins"
      : rated ? "Rating " + row.ratings[0].toFixed(1) : "No winner: the orders disagree";
    fact("judge", row.judge);
    if (row.winners.length) fact("winner of each order", row.winners.map((its) => its || "none").join(", "));
    if (row.probabilities) fact("P(a), P(b), P(tie)", rounded(row.probabilities));
    if (row.ratings.length) fact("ratings", rounded(row.ratings));
    if (row.scenario) fact("scenario", row.scenario);
    if (row.rule) fact("rule", row.rule);
    if (row.n_unreadable + row.n_failed) fact("unreadable, failed", row.n_unreadable + ", " + row.n_failed);
    // In the verdict "Response 1" is response a, whichever was shown first.
    row.critiques.forEach((text, number) => { if (text !== null) answerBox(number).textContent = text; });
  }

  function showProblem(problem) {
    byId("outcome").textContent = problem.title || "The request failed";
    fact("problem", problem.detail || "");
  }

  function heard(event) {
    const lines = event.split(/\r?\n/);
    const value = (name) => lines.filter((line) => line.startsWith(name + ": "))
      .map((line) => line.slice(name.length + 2)).join("\n");
    if (!value("data")) return;
    const kind = value("event"), data = JSON.parse(value("data"));
    if (kind === "text") answerBox(data.answer).textContent += data.text;
    else if (kind === "verdict") showVerdict(data);
    else if (kind === "problem") showProblem(data);
  }

  async function judge() {
    const b = byId("b").value, a = byId("a").value;
    const body = { judge: byId("judge").value || null, query: byId("query").value, stream: true };
    const pair = b !== "";
    Object.assign(body, pair ? { a, b } : { response: a });
    stop = new AbortController();
    const answer = await fetch(pair ? "/v1/compare" : "/v1/rate", {
      method: "POST", headers: headers(), body: JSON.stringify(body), signal: stop.signal,
    });
    if (!answer.ok) { showProblem(await answer.json()); return; }
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let unread = "";
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const events = (unread + part.value).split(/\r?\n\r?\n/);
      unread = events.pop();
      events.forEach(heard);
    }
  }

  function setBusy(busy) {
    byId("send").disabled = busy;
    byId("stop").disabled = !busy;
  }

  byId("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    byId("outcome").textContent = "Judging…";
    byId("facts").replaceChildren();
    byId("answers").replaceChildren();
    setBusy(true);
    try {
      await judge();
    } catch (error) {
      showProblem({ title: error.name === "AbortError" ? "Stopped" : "The service cannot be reached" });
    } finally {
      setBusy(false);
    }
  });
  byId("stop").addEventListener("click", () => { if (stop !== null) stop.abort(); });
  byId("key").addEventListener("change", listJudges);
  listJudges();
})();
