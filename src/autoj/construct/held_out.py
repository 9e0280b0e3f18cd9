"""The held-out scenarios of Appendix C, which ask a judge about what it was not trained on.

**Source:** the rebuttal on unseen scenarios, and Appendix C. The eight scenarios of setting 1, one
of each group, were not published: ours are drawn with the seed 0.
"""

from random import Random
from typing import Literal, TypeAlias

from autoj.scenarios import groups

Setting: TypeAlias = Literal["setting-1", "setting-2"]
_SEED = 0


def held_out_scenarios(setting: Setting) -> tuple[str, ...]:
    """The scenarios that a setting holds out: one of each group, or all of NLP Tasks.

    >>> len(held_out_scenarios("setting-1")), len(held_out_scenarios("setting-2"))
    (8, 11)
    """
    if setting == "setting-2":
        return groups()["NLP Tasks"]
    generator = Random(_SEED)
    return tuple(generator.choice(names) for names in groups().values())
