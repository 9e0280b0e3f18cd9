"""Generative judges of language models: compare two responses, rate one, and say why.

from autoj import Judge
verdict = Judge.load("embedded").compare(query, a, b)
"""

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
