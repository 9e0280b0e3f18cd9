"""A run over many cases: plan, fit, ask, resolve; killed anywhere, it resumes where it stopped."""

from autoj.runs.case_record import CaseRecord, read_case
from autoj.runs.folder import RunFolder
from autoj.runs.in_memory import judge_case, judge_cases
from autoj.runs.judging import RunCounts, judge_run
from autoj.runs.merge.merge_runs import Merged, merge_runs
from autoj.runs.opening import open_run
from autoj.runs.resolving import is_finished, resolve_run
from autoj.runs.settings import spec_digest
from autoj.runs.spec import RunSpec, make_spec

__all__ = [
    "CaseRecord",
    "Merged",
    "RunCounts",
    "RunFolder",
    "RunSpec",
    "is_finished",
    "judge_case",
    "judge_cases",
    "judge_run",
    "make_spec",
    "merge_runs",
    "open_run",
    "read_case",
    "resolve_run",
    "spec_digest",
]
