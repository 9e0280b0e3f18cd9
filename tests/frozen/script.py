"""The engine of the frozen suite's judges: answers that follow from what is asked, and no model.

A card says `backend: tests.frozen.script`; its `model` names one of the ways to answer below. The
digest that an answer is drawn by holds the model, the case, the protocol, the order and the draw,
and not the prompt, so that a changed prompt is seen in the keys and not in every figure.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator

from autoj.backends.scripted import ScriptedBackend
from autoj.records import Failure, JudgeCard, Request

N_ASKED = [0]
"""How many requests were answered since a test set it to 0."""
SCENARIOS = (("plan", "planning"), ("translate", "Text-to-Text Translation"), ("sum", "default"))


def digest(request: Request, model: str) -> bytes:
    asked = (model, request.case_id, request.protocol, request.shown, request.sample)
    return hashlib.sha256(repr(asked).encode()).digest()


def drawn(request: Request, model: str) -> str | tuple[float, ...]:
    """Some answers readable, some not, some of each kind."""
    found = digest(request, model)
    if request.choices is not None:
        return tuple(-0.25 - found[place] / 64 for place in range(len(request.choices)))
    if request.protocol == "scalar":
        return f"{found[0] / 16 - 8:.3f}"
    if request.protocol.startswith("scenario"):
        query = request.messages[-1].content.lower()
        return next((name for word, name in SCENARIOS if word in query), "banana")
    if request.protocol.startswith("critique-comparison"):
        letter = "ABC"[found[0] % 3]
        return f"{letter}: that is how it is.\nIt is sharper, by {found[1]}."
    point = f"- point {found[1]}: it is clear."
    if len(request.shown) == 2:
        # Most cases have a winner that is the same in both orders; the last two have none.
        same = hashlib.sha256(f"{model} {request.case_id}".encode()).digest()[0]
        said = ("a", "b", "a", "b", "Tie", "Response 1", f"Response {1 + found[0] % 3}")[same % 7]
        if said in ("a", "b"):
            said = f"Response {1 + request.shown.index('ab'.index(said))}"
        return f"{point}\n\nSo, the final decision is {said}."
    said = f"Rating: [[{1 + found[0] % 10}]]" if found[0] % 8 else "I cannot say."
    return f"{point}\n\n{said}"


def sure(request: Request, model: str) -> str | tuple[float, ...]:
    """Like `drawn`, but all can be read, and the better-worded response wins in both orders."""
    page = request.messages[-1].content + request.messages[0].content
    worth = [int(number) for number in re.findall(r"quality (\d)", page)][:2]
    if len(worth) < len(request.shown):
        return drawn(request, model)
    if request.choices is not None and len(worth) == 2:
        return (0.3 * worth[0] - 3, 0.3 * worth[1] - 3, -2.5)
    if len(worth) == 2:
        winner = "Tie" if worth[0] == worth[1] else f"Response {1 + (worth[1] > worth[0])}"
        return f"- worth: {worth[0]} and {worth[1]}.\n\nSo, the final decision is {winner}."
    if request.choices is not None:
        return tuple(-0.5 * abs(rating - worth[0]) for rating in range(1, 11))
    return f"Fine.\n\nRating: [[{worth[0]}]]"


def by_words(request: Request, model: str) -> str | tuple[float, ...]:
    """Longer is better, by the number of times that a page says "word"."""
    page = request.messages[0].content
    if len(request.choices or ()) == 10:
        n_words = page.count("word")
        return tuple(-0.5 * (rating - n_words) ** 2 for rating in range(1, 11))
    if request.choices is None:
        return "So, the final decision is Tie."
    first, second = page.split("[Response 1]")[1].split("[Response 2]")
    gap = 0.3 * (first.count("word") - second.count("word")) + 0.1
    return (gap / 2, -gap / 2, -1.0)


def failing(request: Request, model: str) -> str | tuple[float, ...] | Failure:
    """Fails at every third request or so."""
    if digest(request, model)[2] % 3 == 0:
        return Failure(
            key=request.key, error="Down", message="it is down", retryable=True, attempts=2
        )
    return drawn(request, model)


ANSWERS: dict[str, Callable[[Request, str], object]] = {
    "sure": sure,
    "words": by_words,
    "failing": failing,
}


class Stopping(ScriptedBackend):
    """Is stopped as by Ctrl-C after `STOPS_AFTER` answers, and counts them."""

    def complete(self, requests: Iterable[Request], on_text: object = None) -> Iterator[object]:
        stops_after = int(os.environ.get("STOPS_AFTER", "-1"))
        for number, request in enumerate(requests):
            if number == stops_after:
                raise KeyboardInterrupt
            N_ASKED[0] += 1
            yield next(super().complete([request], on_text))


def load(card: JudgeCard) -> ScriptedBackend:
    """The engine of a card."""
    answer = ANSWERS.get(card.model, drawn)
    return Stopping(card, lambda request: answer(request, card.model))
