"""`autoj testbed`: pairs that people label, and the test sets that `autoj bench` reads."""

from autoj.cli._help import App
from autoj.cli._lazy import Listed

COMMANDS = {
    "build": Listed(
        "autoj.cli.testbed_build:build",
        "Draw pairs that were not trained on, make those that are short, sample Eval-R.",
    ),
    "annotate": Listed(
        "autoj.cli.testbed_annotate:annotate",
        "Label pairs, blind to models and order: in the terminal, or in Label Studio.",
    ),
    "freeze": Listed(
        "autoj.cli.testbed_freeze:freeze",
        "Write the three test sets with checksums and a datasheet; nothing is overwritten.",
    ),
    "show": Listed(
        "autoj.cli.testbed_show:show",
        "Show a testbed: pairs by scenario, annotators, their agreement and disputes.",
    ),
}
"""The commands, in the order in which they are used."""

testbed_app = App(COMMANDS, no_args_is_help=True)


@testbed_app.callback()
def testbed() -> None:
    """Build a testbed of your own: pairs that people label, as Eval-P, Eval-C and Eval-R."""
