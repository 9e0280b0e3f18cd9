"use strict";
// Judged text is untrusted: it enters the page through textContent alone.
(() => {
  const byId = (id) => document.getElementById(id);
  let stop = null, judges = [];

  function make(name, text) {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  }

  function headers() {
    const key = byId("key").value;
    const json = { "Content-Type": "application/json" };
    return key ? { ...json, Authorization: "Bearer " + key } : json;
  }

  async function listJudges() {
    const answer = await fetch("/v1/judges", { headers: headers() });
    // Without a key every judge is listed, so that none need be asked for.
    byId("key-field").hidden = answer.ok && !byId("key").value;
    if (!answer.ok) return;
    judges = (await answer.json()).judges;
    byId("judge").replaceChildren(...judges.map((judge) => choice(judge.name, judge.name)));
    listProtocols();
  }

  function choice(value, text) {
    const option = make("option", text);
    option.value = value;
    return option;
  }

  function listProtocols() {
    const wanted = byId("b").value === "" ? "response" : "pair";
    const judge = judges.find((its) => its.name === byId("judge").value);
    const names = judge ? judge.protocols.filter((its) => its.judges === wanted).map((its) => its.name) : [];
    const chosen = byId("protocol").value;
    byId("protocol").replaceChildren(choice("", "the judge's default"), ...names.map((its) => choice(its, its)));
    if (names.includes(chosen)) byId("protocol").value = chosen;
  }

  const order = (shown) => "Response " + "ab"[shown[0] || 0] + (shown.length < 2 ? "" : " shown first");
  // While it is written: what the judge calls Response 1 is the response that it was shown first.
  const heading = (shown) => order(shown) + (shown.length < 2 ? "" : ", as Response 1");

  function answerBox(number, title) {
    let box = byId("answer-" + number);
    if (box === null) {
      const part = document.createElement("div");
      box = make("pre", "");
      box.id = "answer-" + number;
      box.className = "text";
      part.append(make("h3", title), box);
      byId("answers").append(part);
    }
    box.previousElementSibling.textContent = title;
    return box;
  }

  function fact(name, value) {
    byId("facts").append(make("dt", name), make("dd", value));
  }

  const name = (winner) => winner === null ? "none" : winner === "tie" ? "tie" : "response " + winner;
  const percent = (value) => (100 * value).toFixed(1) + " %";

  function outcome(row) {
    if (row.state !== "judged") return "The judgment is " + row.state;
    if (row.winner === "tie") return "A tie";
    if (row.winner !== null) return "Response " + row.winner + " wins";
    if (row.ratings.length === 1) return "Rating " + row.ratings[0].toFixed(1) + " of 10";
    return "No winner: the orders disagree";
  }

  function showVerdict(row) {
    byId("outcome").textContent = outcome(row);
    if (row.winners.length > 1) {
      row.winners.forEach((its, number) => fact("ab"[number] + " shown first", name(its)));
    }
    if (row.probabilities) {
      const [a, b, tie] = row.probabilities.map(percent);
      fact("probabilities", "a " + a + ", b " + b + ", tie " + tie);
    }
    if (row.ratings.length) {
      const shown = row.ratings.map((its) => its === null ? "none" : its.toFixed(2));
      fact("ratings of 10", shown.length > 1 ? "a " + shown[0] + ", b " + shown[1] : shown[0]);
    }
    if (row.rule) fact("rule", row.rule);
    if (row.n_unreadable + row.n_failed) fact("unreadable, failed", row.n_unreadable + ", " + row.n_failed);
    fact("judge", row.judge);
    showCritiques(row.critiques, row.critiques.length > 1 || !row.ratings.length || row.ratings.length > 1);
  }

  function showCritiques(critiques, isPair) {
    critiques.forEach((text, number) => {
      if (text === null) return;
      const title = critiques.length > 1 ? order(isPair ? [number, 1 - number] : [number]) : "Critique";
      // In a row's critiques Response 1 is response a, whichever was shown first.
      answerBox(number, title + (isPair ? " (Response 1 is response a)" : "")).textContent = text;
    });
  }

  function showProblem(problem) {
    byId("outcome").textContent = problem.title || "The request failed";
    if (problem.detail) fact("problem", problem.detail);
  }

  function heard(event) {
    const lines = event.split(/\r?\n/);
    const value = (name) => lines.filter((line) => line.startsWith(name + ": "))
      .map((line) => line.slice(name.length + 2)).join("\n");
    if (!value("data")) return;
    const kind = value("event"), data = JSON.parse(value("data"));
    if (kind === "text") {
      const box = answerBox(data.answer, heading(data.shown));
      box.textContent += data.text;
      box.classList.add("writing");
    } else if (kind === "verdict") showVerdict(data);
    else if (kind === "problem") showProblem(data);
  }

  async function judge() {
    const b = byId("b").value, a = byId("a").value;
    const body = { judge: byId("judge").value || null, query: byId("query").value, stream: true };
    const pair = b !== "";
    Object.assign(body, pair ? { a, b } : { response: a });
    // Of a protocol that only decides, a critique is asked for afterwards: it is what one watches.
    if (byId("protocol").value) Object.assign(body, { protocol: byId("protocol").value, critique: true });
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

  async function showScenario() {
    const query = byId("query").value;
    const answer = await fetch("/v1/scenario", {
      method: "POST", headers: headers(), body: JSON.stringify({ query }), signal: stop.signal,
    });
    if (!answer.ok) return;
    const found = await answer.json(), part = byId("scenario");
    part.querySelector("summary").textContent =
      "Scenario: " + found.scenario + " (" + percent(found.probability) + ", by the classifier), " + found.criteria.length + " criteria";
    part.querySelector("p").textContent = found.description;
    part.querySelector("dl").replaceChildren(
      ...found.criteria.flatMap((its) => [make("dt", its.name), make("dd", its.content)]));
    part.hidden = false;
  }

  function setBusy(busy) {
    byId("send").disabled = busy;
    byId("stop").disabled = !busy;
    if (!busy) document.querySelectorAll(".writing").forEach((box) => box.classList.remove("writing"));
  }

  byId("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    byId("outcome").textContent = "Judging…";
    byId("facts").replaceChildren();
    byId("answers").replaceChildren();
    byId("scenario").hidden = true;
    stop = new AbortController();
    setBusy(true);
    try {
      await Promise.all([judge(), showScenario()]);
    } catch (error) {
      showProblem({ title: error.name === "AbortError" ? "Stopped" : "The service cannot be reached" });
    } finally {
      setBusy(false);
    }
  });
  byId("stop").addEventListener("click", () => { if (stop !== null) stop.abort(); });
  byId("key").addEventListener("change", listJudges);
  byId("judge").addEventListener("change", listProtocols);
  byId("b").addEventListener("input", listProtocols);
  listJudges();
})();
