"""Generative judges of language models: compare two responses, rate one, and say why.

from autoj import Judge
verdict = Judge.load("embedded").compare(query, a, b)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autoj.api import Judge, Jury
    from autoj.errors import AutojError, BackendError, UserError
    from autoj.records import Case, JudgeCard, Response, Verdict
    from autoj.runs.watch import Watch
    from autoj.tasks.run import Run

__all__ = [
    "AutojError",
    "BackendError",
    "Case",
    "Judge",
    "JudgeCard",
    "Jury",
    "Response",
    "Run",
    "UserError",
    "Verdict",
    "Watch",
]

_PLACES = {
    **dict.fromkeys(("Judge", "Jury"), "autoj.api"),
    **dict.fromkeys(("AutojError", "BackendError", "UserError"), "autoj.errors"),
    **dict.fromkeys(("Case", "JudgeCard", "Response", "Verdict"), "autoj.records"),
    "Watch": "autoj.runs.watch",
    "Run": "autoj.tasks.run",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first used: `autoj --version` needs none of them."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_PLACES[name]), name)
    return found


def __dir__() -> list[str]:
    """The public names, whether imported yet or not, beside the module's own."""
    return sorted({*globals(), *__all__})
