"""A scorer of Inspect: a judge's rating of each sample, from 1 to 10.

    inspect eval my_task.py --scorer examples/doors/inspect_autoj.py@autoj_rating

A judgment that failed is `Score.unscored`, which Inspect's metrics leave out and count.
"""

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from autoj import Judge


@scorer(metrics=[mean(), stderr()])
def autoj_rating(judge: str = "embedded", protocol: str | None = None) -> Scorer:
    """Rates the completion as a response to the sample's input."""
    settings = {} if protocol is None else {"protocol": protocol}
    loaded = Judge.load(judge)

    async def score(state: TaskState, target: Target) -> Score:
        verdict = await loaded.arate(state.input_text, state.output.completion, **settings)
        if verdict.ratings[0] is None:
            said = f"{verdict.n_failed} failed, {verdict.n_unreadable} could not be read"
            return Score.unscored(
                reason="grader_failed", answer=state.output.completion, explanation=said
            )
        return Score(
            value=verdict.ratings[0],
            answer=state.output.completion,
            explanation=next(iter(verdict.critiques), None),
        )

    return score
