"""The judge of the tasks beside this file: change it here."""

from autoj.doors.lm_eval import TaskJudge

_JUDGE = TaskJudge("embedded", query="question")

process_results = _JUDGE.process_results
mean = _JUDGE.mean
stderr = _JUDGE.stderr
unscored = _JUDGE.unscored
