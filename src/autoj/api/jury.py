"""Several judges in Python, asked in parallel."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Literal

from autoj.api.cases import case_of, checked
from autoj.api.closing import Closeable
from autoj.api.judge import Judge
from autoj.errors import ConfigError
from autoj.records import Case, JudgeCard, Verdict
from autoj.runs import judge_case
from autoj.tasks.jurors import Juror, choose_method, make_jurors
from autoj.verdicts.jury import JuryVerdict, Method, as_vote, jury_rating, jury_verdict


class Jury(Closeable):
    """Several judges, asked in parallel; a verdict has each judge's own.

    Use it as a context manager, or `close` it, to free the models; all of them stay in memory.
    """

    def __init__(self, judges: Sequence[Judge], method: Method | None = None) -> None:
        """Makes a jury of loaded judges.

        Args:
            judges: at least two judges, all different.
            method: how pairs are decided, "majority" or "mean"; None is the mean of probabilities
                if each judge gives them, else the majority.

        Raises:
            ConfigError: there are fewer than two.
        """
        if len(judges) < 2:
            raise ConfigError(f"a jury needs at least two judges, found {len(judges)}")
        self._judges = tuple(judges)
        self._method = method
        self._name = ", ".join(judge.card.name for judge in judges)

    @classmethod
    def load(cls, *judges: str | JudgeCard, method: Method | None = None) -> "Jury":
        """Loads judges by name like `Judge.load`; if one fails, the others are freed.

        Args:
            judges: names, paths of cards, `backend:model`, or cards.
            method: as above.
        """
        with ExitStack() as opened:
            jury = cls([opened.enter_context(Judge.load(judge)) for judge in judges], method)
            opened.pop_all()
            return jury

    def compare(
        self,
        query: str,
        a: str,
        b: str,
        *,
        scenario: str | None = None,
        reference: str | None = None,
        **settings: Any,
    ) -> JuryVerdict:
        """Compares two responses by votes or mean probabilities (`verdicts.jury`).

        Args:
            query: the user's request.
            a: the first response.
            b: the second response.
            scenario: as in `Judge.compare`.
            reference: as in `Judge.compare`.
            settings: settings of `make_spec`, for all judges.

        Returns:
            The jury's verdict; `judges` has each judge's own, `rule` names the deciding rule.

        Raises:
            DataError: the query is empty.
            ConfigError: two judges are equal, a judge does not support the task, or the mean is
                requested and a judge gives no probabilities.
        """
        jurors = self._jurors("judge", settings)
        method = choose_method(jurors, self._method)
        case = checked(
            case_of(query, a, b, scenario=scenario, reference=reference),
            *(juror.spec for juror in jurors),
        )
        votes = [as_vote(verdict) for verdict in self._ask(jurors, case)]
        return jury_verdict(votes, method, self._name)

    def rate(
        self,
        query: str,
        response: str,
        *,
        scenario: str | None = None,
        reference: str | None = None,
        **settings: Any,
    ) -> JuryVerdict:
        """Averages the judges' ratings of one response; arguments as in `compare`."""
        jurors = self._jurors("rate", settings)
        case = checked(
            case_of(query, response, scenario=scenario, reference=reference),
            *(juror.spec for juror in jurors),
        )
        return jury_rating(self._ask(jurors, case), self._name)

    def _jurors(self, task: Literal["judge", "rate"], settings: dict[str, Any]) -> list[Juror]:
        cards = [(judge.card.name, judge.card) for judge in self._judges]
        return make_jurors(task, cards, **settings)

    def _ask(self, jurors: Sequence[Juror], case: Case) -> list[Verdict]:
        return [
            judge_case(case, juror.spec, judge.backend)
            for juror, judge in zip(jurors, self._judges, strict=True)
        ]

    def close(self) -> None:
        """Frees all models."""
        for judge in self._judges:
            judge.close()
