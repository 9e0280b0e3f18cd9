"""A cheap judge, and a stronger one that is asked where the cheap one is unsure.

The folder is that of a jury of two: each judge has a run of its own, so that both can be shown,
resumed and measured like any other. The cases of the stronger judge's run are those that the cheap
one's verdicts lead to, so they may become others: the run is then begun anew over its own ledger,
and asks nothing that this holds.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from autoj.datasets.base import Cases, ReadRow
from autoj.errors import ConfigError, DataError
from autoj.judges import load_card
from autoj.records import CaseOutline, JudgeCard, Verdict
from autoj.runs import RunFolder
from autoj.runs.files import CASES, FOLLOW, PLAN, VERDICTS
from autoj.runs.place import locked
from autoj.runs.second_order import is_drawn, read_share, read_threshold
from autoj.runs.spec import RunSpec, Task, make_spec
from autoj.tasks.jurors import Escalation, Jury, make_jurors, make_jury
from autoj.verdicts.jury import Method, wants_stronger


def make_escalation(
    judges: Sequence[tuple[str, JudgeCard]],
    stronger: str,
    method: Method | None = None,
    *,
    second_order: str | None = None,
    always_full: float | None = None,
    **settings: Any,
) -> Jury:
    """Makes a jury of a cheap judge and a stronger one that decides where the cheap one is unsure.

    Args:
        judges: the name given for the judge that is asked about all pairs, and its card.
        stronger: the name of the judge that is asked where the cheap one is unsure, and maybe a
            threshold after it ("gpt-4:0.8"): a verdict of the cheap judge with a lower confidence
            is unsure. Without one it is that of the cheap judge's card. Verdicts whose orders
            differ, or without a winner that could be read, are unsure in any case.
        method: the rule of a jury, which there is none of here.
        second_order: of the cheap judge, as in `make_spec`.
        always_full: the share of the pairs, 0 to 1, drawn at random, of which the stronger judge
            is asked in any case; None is a tenth.
        settings: further arguments of `make_spec`, for both judges.

    Raises:
        ConfigError: nothing would say where the cheap judge is unsure, or the settings cannot be
            used together.
    """
    if settings.get("critic") is not None or settings.get("shard") is not None:
        flag = "--critic" if settings.get("shard") is None else "--shard"
        raise ConfigError(f"--escalate cannot be used with {flag}")
    if len(judges) > 1 or method is not None:
        raise ConfigError("--escalate needs one --judge, and no --jury: two judges share the work")
    name, below = read_escalation(stronger)
    first, second = make_jurors("judge", [*judges, (name, load_card(name))], **settings)
    if first.spec.task != "judge":
        raise ConfigError(f"judge {first.name!r} only rates, so nothing says where it is unsure")
    if second_order is not None:
        spec = make_spec(
            "judge", judges[0][1], second_order=second_order, always_full=always_full, **settings
        )
        first = replace(first, spec=spec)
    known = first.spec.sure_threshold
    if below is None and known is not None:
        below = known.below
    in_both_orders = first.spec.has_orders and first.spec.orders == "both"
    by_confidence = below is not None and (in_both_orders or first.spec.calibration is not None)
    if not in_both_orders and not by_confidence:
        raise ConfigError(
            f"nothing says where judge {first.name!r} is unsure: it is not asked in both orders, "
            "and its verdicts have no confidence, or no threshold of it",
            hint="Ask it in both orders by a protocol that compares; or, of a card with a "
            "calibration, state a threshold: --escalate JUDGE:0.7.",
        )
    # Its cases are those that the first judge's verdicts leave, and not the first of a number.
    second = replace(second, spec=replace(second.spec, limit=None))
    rule = Escalation(below=below, always_full=read_share(always_full))
    return Jury(jurors=(first, second), method="escalate", escalation=rule)


def read_escalation(text: str) -> tuple[str, float | None]:
    """The judge that a flag's value names, and the threshold after it.

    Raises:
        ConfigError: the threshold is not from 0 to 1.

    >>> read_escalation("gpt-4"), read_escalation("openai:gpt-4:0.8")
    (('gpt-4', None), ('openai:gpt-4', 0.8))
    """
    name, _, below = text.rpartition(":")
    with suppress(ValueError):
        if name:
            float(below)
            return name, read_threshold(below, f"--escalate {text}")
    return text, None


def escalated(cases: Cases, first: Path, rule: Escalation) -> Cases | None:
    """The pairs that the stronger judge is asked about; None where there are none.

    Args:
        cases: the data.
        first: the run of the cheap judge, finished.
        rule: the rule.
    """
    wanted = {
        case.id
        for case, verdict in RunFolder(first).outlined()
        if is_drawn(case.id, rule.always_full) or wants_stronger(verdict, rule.below)
    }
    if not wanted:
        return None

    def read() -> Iterator[ReadRow]:
        # Rows that are no cases were told of when the cheap judge read them.
        for line, case in cases.read():
            if not isinstance(case, DataError) and case.id in wanted:
                yield ReadRow(line, case)

    digest = hashlib.sha256("\n".join(sorted(wanted)).encode("utf-8", "surrogatepass")).hexdigest()
    derivation = f"{cases.derivation or 'all'}; {len(wanted)} that a judge left, {digest}"
    return replace(cases, read=read, derivation=derivation)


def renew(path: Path, cases: Cases | None) -> None:
    """Takes the cases out of a run whose first ones are not these, so that it can begin anew.

    Its answers stay.

    Args:
        path: the stronger judge's run.
        cases: the pairs that it is asked about now; None for none.
    """
    if not (path / "run.json").is_file():
        return
    with locked(path):
        there = RunFolder(path).rows(CASES, CaseOutline)
        now = (case for _, case in cases.readable()) if cases is not None else iter(())
        for old, new in zip_longest(there, now):
            if old is None:
                return
            if new is None or old.id != new.id:
                break
        else:
            return
        # What is derived goes first: while `run.json` is there, a killed renewal goes on.
        for name in (VERDICTS, PLAN, FOLLOW, "run.json", CASES):
            (path / name).unlink(missing_ok=True)


def verdicts_of_both(path: Path, jury: Jury) -> Iterator[tuple[Verdict, Verdict | None]]:
    """The cheap judge's verdicts, each with the stronger one's where it was asked.

    Args:
        path: the jury's folder.
        jury: the two judges.

    Raises:
        DataError: the stronger judge's verdicts are on other cases.
    """
    first, second = (path / juror.folder for juror in jury.jurors)
    rest = RunFolder(second).verdicts() if (second / "run.json").is_file() else iter(())
    ahead = next(rest, None)
    for verdict in RunFolder(first).verdicts():
        if ahead is not None and ahead.case_id == verdict.case_id:
            yield verdict, ahead
            ahead = next(rest, None)
        else:
            yield verdict, None
    if ahead is not None:
        raise DataError(
            f"its verdict on case {ahead.case_id!r} does not follow the first judge's", path=second
        )


def named_judges(
    task: Task,
    judge: str,
    method: Method | None = None,
    *,
    escalate: str | None = None,
    critic: str | None = None,
    classify: bool = False,
    classifier: str | None = None,
    **settings: Any,
) -> RunSpec | Jury:
    """The run of the judge that a text names, or the jury of several or of two that share.

    Args:
        task: "judge" or "rate".
        judge: NAME, or NAME,NAME for a jury; a name is a card's, the path of one, or backend:model.
        method: the rule of a jury for pairs; None as in `make_jury`.
        escalate: the judge that is asked where the other is unsure, as in `make_escalation`.
        critic: the judge that writes the critiques, by its name.
        classify: whether scenarios are named by a classifier.
        classifier: the classifier; None is "fast".
        settings: further ones of `make_spec`.

    Raises:
        UnknownComponent: there is no such judge.
        ConfigError: a rule is given for one judge, or the settings cannot be used together.
    """
    settings["critic"] = None if critic is None else load_card(critic)
    settings["classifier"] = classifier or ("fast" if classify else None)
    cards = _named_cards(judge)
    if escalate is not None:
        return make_escalation(cards, escalate, method, **settings)
    if len(cards) > 1:
        return make_jury(task, cards, method, **settings)
    if method is not None:
        raise ConfigError("--jury needs several judges, but --judge names one")
    return make_spec(task, cards[0][1], **settings)


def _named_cards(judge: str) -> list[tuple[str, JudgeCard]]:
    """The names and cards of the judges that a text names; a path with a comma is one judge."""
    names = [name.strip() for name in judge.split(",") if name.strip()]
    # Many names are too long for one path, which is an error to pathlib.
    if os.path.exists(judge) or len(names) < 2:
        names = [judge.strip().strip(",") or judge]
    return [(name, load_card(name)) for name in names]
