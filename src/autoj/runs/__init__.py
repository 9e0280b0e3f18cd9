"""Do it for many and forget nothing: plan, fit, ask, resolve; killed anywhere, it goes on."""

from autoj.runs.folder import RunFolder, open_run, spec_digest
from autoj.runs.judging import (
    CaseRecord,
    Progress,
    RunCounts,
    is_finished,
    judge_case,
    judge_run,
    read_case,
    resolve_run,
)
from autoj.runs.plan import RunSpec, make_spec

__all__ = [
    "CaseRecord",
    "Progress",
    "RunCounts",
    "RunFolder",
    "RunSpec",
    "is_finished",
    "judge_case",
    "judge_run",
    "make_spec",
    "open_run",
    "read_case",
    "resolve_run",
    "spec_digest",
]
