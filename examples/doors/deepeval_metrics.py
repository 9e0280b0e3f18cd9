"""Two of DeepEval's metrics: a judge's rating of a test case, and its winner of an arena.

python examples/doors/deepeval_metrics.py
"""

from deepeval import evaluate
from deepeval.evaluate.configs import DisplayConfig, ErrorConfig
from deepeval.test_case import ArenaTestCase, Contestant, LLMTestCase

from autoj import Judge
from autoj.doors.deepeval import ArenaMetric, RatingMetric

QUERY = "Name three colours and say where each is seen."
GOOD = "Red is seen in blood, green in leaves, and blue in a clear sky."
POOR = "Colours are nice."


def main(judge: str | Judge = "embedded") -> str:
    """Rates two answers and compares them; returns the winner's name."""
    cases = [LLMTestCase(input=QUERY, actual_output=text) for text in (GOOD, POOR)]
    # A judgment that failed is an error of its test case, and does not end the others.
    evaluate(
        test_cases=cases,
        metrics=[RatingMetric(judge, threshold=5.0)],
        error_config=ErrorConfig(ignore_errors=True),
        display_config=DisplayConfig(show_indicator=False),
    )
    arena = ArenaTestCase(
        contestants=[
            Contestant(name=name, test_case=case)
            for name, case in zip(("long", "short"), cases, strict=True)
        ]
    )
    return ArenaMetric(judge).measure(arena)


if __name__ == "__main__":
    print(main())  # noqa: T201
