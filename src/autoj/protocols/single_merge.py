"""`single-merge`: joins two critiques of one response and rates it (paper, Table 12)."""

from dataclasses import dataclass

from autoj.errors import ConfigError
from autoj.protocols.base import RequestBody, fill, load_text
from autoj.protocols.single import Single
from autoj.records import Case, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleMerge(Single):
    """Writes one critique of two, and a rating.

    **Source:** paper, section 3.3 and Table 12.
    """

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The prompt of Table 12.

        Raises:
            ConfigError: the case has not two critiques of its response.
        """
        (index,) = shown
        if len(case.critiques) != 2:
            raise ConfigError(
                f"case {case.id!r} has {len(case.critiques)} critiques, and protocol {self.name!r} "
                "joins two"
            )
        values = {
            "query": case.query,
            "response": case.responses[index].text,
            "critique_1": case.critiques[0],
            "critique_2": case.critiques[1],
        }
        content = fill(load_text("single_merge.en.txt"), values)
        return RequestBody(messages=(Message(role="user", content=content),))


PROTOCOL = SingleMerge(name="single-merge")
