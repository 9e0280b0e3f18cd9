"""`single-criteria-each`: a rating of one response by each criterion, and their weighted mean."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from autoj.protocols._criteria import criteria_message, scenario_of
from autoj.protocols._folding import clean, fold
from autoj.protocols._ratings import HIGHEST, LOWEST
from autoj.protocols.base import JudgeProtocol, RequestBody, fill, load_text
from autoj.protocols.single_criteria import SingleCriteria
from autoj.records import Case, Message, Rating, Reading, Unreadable
from autoj.scenarios import Criterion, Scenario
from autoj.scenarios.criteria import TYPES

_LINE = re.compile(
    r"^[ \t*_#>-]{0,8}(?P<number>[0-9]{1,3})[.)][ \t*_]{0,8}(?P<said>[^\n]{0,1000})", re.MULTILINE
)
_RATING = re.compile(r"\[\[[ \t*_]{0,4}(?P<value>[0-9]{1,2}(?:\.[0-9]{1,2})?)[ \t*_]{0,4}\]\]")
_JOINT = " \t*_:\"'`"


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleCriteriaEach(SingleCriteria):
    """Rates one response by each criterion of its scenario; its score is their weighted mean.

    The score is sum(w * r) / sum(w) over all criteria, with the weight w (1 to 5) and the rating r
    (1 to 10) of each. A criterion without a readable rating makes the whole unreadable: a mean over
    the others would be another score.

    **Source:** none; the words are ours. The paper drops weights from its prompts (Table 9).
    """

    scenario: Scenario | None = None
    """The scenario whose criteria an answer rates; None where the case is not known."""

    def for_case(self, case: Case) -> JudgeProtocol:
        """The protocol that reads the answers about a case.

        Raises:
            ConfigError: the case names no scenario.
            UnknownComponent: it names an unknown one.
        """
        return replace(self, scenario=scenario_of(case, self.library, self.name))

    def build(self, case: Case, shown: tuple[int, ...]) -> RequestBody:
        """The scenario's criteria as system message, and their names in the user's.

        Raises:
            ConfigError: the case names no scenario.
            UnknownComponent: it names an unknown one.
        """
        (index,) = shown
        scenario = scenario_of(case, self.library, self.name)
        names = [criterion.name for criterion in _in_order(scenario)]
        values = {
            "query": case.query,
            "response": case.responses[index].text,
            "names": "\n".join(f"{number}. {name}" for number, name in enumerate(names, start=1)),
            "count": str(len(names)),
        }
        content = fill(load_text("single_criteria_each.en.txt"), values)
        return RequestBody(
            messages=(criteria_message(scenario), Message(role="user", content=content))
        )

    def parse(self, text: str, judged: Sequence[str] = ()) -> Reading:
        """The weighted mean of the ratings; of several for one criterion the last counts."""
        if self.scenario is None:
            return Unreadable(reason="ratings by criterion cannot be read without their case")
        visible = clean(text)
        criteria = _in_order(self.scenario)
        stated = _ratings(fold(visible), criteria, judged)
        for number, criterion in enumerate(criteria, start=1):
            if number not in stated:
                return Unreadable(reason=f"criterion {number} ({criterion.name}) has no rating")
            if not LOWEST <= stated[number] <= HIGHEST:
                reason = f"the rating of criterion {number} is not from 1 to 10: {stated[number]:g}"
                return Unreadable(reason=reason)
        ratings = [stated[number] for number in range(1, len(criteria) + 1)]
        weights = [criterion.weight for criterion in criteria]
        total = sum(weight * rating for weight, rating in zip(weights, ratings, strict=True))
        score = total / sum(weights)
        return Rating(
            value=min(max(score, LOWEST), HIGHEST),
            critique=f"{visible.strip()}\n\n{_formula(weights, ratings, score)}",
        )


def _in_order(scenario: Scenario) -> list[Criterion]:
    """The criteria in the order in which the system message lists them."""
    return [criterion for wanted in TYPES for criterion in scenario.of_type(wanted)]


def _ratings(folded: str, criteria: Sequence[Criterion], judged: Sequence[str]) -> dict[int, float]:
    """The last rating of each criterion by its number, where number and name belong together."""
    stated: dict[int, float] = {}
    for line in _LINE.finditer(folded):
        number, said = int(line["number"]), line["said"]
        if not 1 <= number <= len(criteria):
            continue
        name = fold(criteria[number - 1].name).casefold()
        rest = said.lstrip(_JOINT)
        if not rest.casefold().startswith(name) or _is_quoted(line[0], judged):
            continue
        rating = _RATING.match(rest[len(name) :].lstrip(_JOINT))
        if rating is not None:
            stated[number] = float(rating["value"])
    return stated


def _is_quoted(line: str, judged: Sequence[str]) -> bool:
    """True where a line stands in a judged text as it is."""
    bare = line.strip()
    return any(bare in text for text in judged)


def _formula(weights: Sequence[int], ratings: Sequence[float], score: float) -> str:
    terms = " + ".join(
        f"{weight} * {rating:g}" for weight, rating in zip(weights, ratings, strict=True)
    )
    return f"Score by the criteria's weights: ({terms}) / {sum(weights)} = {score:.2f}"


PROTOCOL = SingleCriteriaEach(name="single-criteria-each")
