"""A scorer for Inspect, which finds it as `autoj/rating` wherever autoj is installed.

**Source:** inspect_ai 0.3.285: entry points of the group `inspect_ai` (`_util/entrypoints.py`) are
imported for names that begin with the package's; a scorer is
`async (state, target) -> Score`, and `Score.unscored` is left out by metrics and counted.
"""

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from autoj.rewards.scoring import RewardBy, Scored, score_one
from autoj.rewards.single import case_to_score, loaded_judge
from autoj.rewards.turns import query_of


@scorer(metrics=[mean(), stderr()])
def rating(
    judge: str = "embedded",
    by: RewardBy = "rating",
    protocol: str | None = None,
    critique: bool | None = None,
) -> Scorer:
    """Scores each sample's completion by a judge.

    Args:
        judge: what `Judge.load` takes, loaded with the first sample.
        by: the kind of score: "rating" and "expected-rating" give 1 to 10, "calibrated-rating"
            log-odds, "reference" 0 to 1 against the sample's target.
        protocol: the judge's protocol; None takes the first that its card has for it.
        critique: True has the judge explain each score; None follows its card.

    Returns:
        The scorer. A judgment that failed or could not be read is unscored, with the reason
        `grader_failed`; a judge whose engine breaks down fails the sample, which Inspect can retry.
    """
    stated = {"protocol": protocol, "critique": critique}
    settings = {name: value for name, value in stated.items() if value is not None}

    async def score(state: TaskState, target: Target) -> Score:
        case = case_to_score(
            _asked(state), state.output.completion, by, target.text, row=1, field="target"
        )
        found = await score_one(loaded_judge(judge, by), case, by, settings)
        return _score_of(found, state.output.completion)

    return score


def _asked(state: TaskState) -> str:
    if isinstance(state.input, str):
        return state.input
    return query_of([{"role": turn.role, "content": turn.text} for turn in state.input], 1)


def _score_of(found: Scored, answer: str) -> Score:
    told = {"judge": found.verdict.judge}
    if found.reward is None:
        return Score.unscored(
            reason="grader_failed", answer=answer, explanation=found.lacking, metadata=told
        )
    return Score(value=found.reward, answer=answer, explanation=found.critique, metadata=told)
