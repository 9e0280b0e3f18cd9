"""Draws the curves of these pages; needs the extra report.

python docs/curves.py                          # accuracy over tokens of training
python docs/curves.py --run runs/validation    # and accuracy over coverage, of a labelled run
"""

from __future__ import annotations

import argparse
from pathlib import Path

from autoj.reports.html.charts import Curve, curve_chart
from autoj.reports.html.plot import write_figure
from autoj.reports.html.report import chart_content

_PICTURES = Path(__file__).resolve().parent / "img"
_TRAININGS = {
    "135 million": [
        (10, 0.565, 0.530, 0.600, 770),
        (32, 0.596, 0.561, 0.631, 770),
        (68, 0.627, 0.605, 0.650, 1959),
    ],
    "0.5 billion": [(76, 0.635, 0.601, 0.668, 784)],
    "1.5 billion": [(79, 0.658, 0.624, 0.690, 784)],
}
"""Per size: tokens of training in 100,000; the share of decided pairs of arena55k's validation file
that is right with its interval, and their number. The figures are those of the model cards and of
`experiments/LOG.md`; the smallest by its ratings alone, the others by comparison in both orders."""


def main() -> None:
    """Writes `training.svg`, and `coverage.svg` where there is a run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, help="a run on labelled pairs with probabilities")
    run: Path | None = parser.parse_args().run
    chart = curve_chart(
        "training",
        "Accuracy over tokens of training",
        [
            Curve(
                label=size,
                points=[
                    (at, 100 * share, 100 * low, 100 * high, n)
                    for at, share, low, high, n in points
                ],
                is_judge=True,
            )
            for size, points in _TRAININGS.items()
        ],
        ("tokens of training, 100,000", "decided validation pairs, %"),
    )
    (_PICTURES / "training.svg").write_bytes(chart_content(chart, "svg"))
    if run is not None:
        write_figure("coverage", [run], _PICTURES / "coverage.svg")


if __name__ == "__main__":
    main()
