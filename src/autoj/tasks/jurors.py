"""The judges of a jury, with the settings of each one's run, and the rule that decides."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from autoj.datasets.base import Cases, ReadRow
from autoj.errors import ConfigError, DataError
from autoj.protocols import protocols_of
from autoj.records import JudgeCard
from autoj.runs.spec import RunSpec, Task, make_spec
from autoj.verdicts.jury import Method

_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Juror:
    """A juror: a judge of a jury, with the settings of its run."""

    name: str
    """Unique within the jury."""
    folder: str
    """The folder of its run, relative to the jury's."""
    spec: RunSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """The pairs that the second of two judges is asked about."""

    below: float | None
    """A verdict of the first judge with a lower confidence is unsure, 0 to 1; None goes by its
    orders alone."""
    always_full: float
    """The share of the pairs, 0 to 1, drawn at random, of which both are asked in any case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Jury:
    """Several judges, and the rule that decides: the content of `jury.json`."""

    jurors: tuple[Juror, ...]
    method: Method | Literal["escalate"] | None
    """None where responses are rated; "escalate" has the second judge decide where the first one is
    unsure."""
    escalation: Escalation | None = None
    """The pairs that the second judge is asked about; None asks each judge about all."""

    @property
    def paired(self) -> bool:
        """True where pairs are judged."""
        return self.method is not None


def make_jury(
    task: Task, judges: Sequence[tuple[str, JudgeCard]], method: Method | None, **settings: Any
) -> Jury:
    """Makes a jury, with the spec of each judge's run.

    Args:
        task: "judge" or "rate".
        judges: the name given for each judge, and its card.
        method: the rule for pairs; None takes the mean where each judge gives probabilities.
        settings: arguments of `make_spec`.

    Raises:
        ConfigError: a judge is named twice, cannot do the task, or gives no probabilities where
            their mean is asked for.
    """
    if settings.get("critic") is not None:
        raise ConfigError("--critic is for one judge, but --judge names several")
    jurors = make_jurors(task, judges, **settings)
    if settings.get("second_order") is not None:
        raise ConfigError("--second-order is for one judge, but --judge names several")
    decides = choose_method(jurors, method) if task == "judge" else None
    return Jury(jurors=tuple(jurors), method=decides)


def make_jurors(
    task: Task, judges: Sequence[tuple[str, JudgeCard]], **settings: Any
) -> list[Juror]:
    """Makes the jurors of a jury, each with the spec of its run.

    A judge that only rates, such as a reward model, rates both responses of a pair and votes for
    the higher rating; `orders`, `on_conflict` and a reward model's `protocol` do not apply to it.

    Args:
        task: "judge" or "rate".
        judges: the name given for each judge, and its card.
        settings: arguments of `make_spec`.

    Raises:
        ConfigError: a judge is named twice, or cannot do the task.
    """
    for index, (given, card) in enumerate(judges):
        for other, its in judges[:index]:
            if given == other or _bare(card) == _bare(its):
                same = repr(given) if given == other else f"{other!r} and {given!r}"
                raise ConfigError(
                    f"--judge names one judge twice: {same}",
                    hint="Each judge of a jury has one vote. --samples asks one judge repeatedly.",
                )
    n_named = Counter(card.name for _, card in judges)
    names = [card.name if n_named[card.name] == 1 else given for given, card in judges]
    return [
        Juror(name=name, folder=f"judges/{folder}", spec=_spec(task, card, settings))
        for name, folder, (_, card) in zip(names, _folder_names(names), judges, strict=True)
    ]


def _bare(card: JudgeCard) -> JudgeCard:
    """A card without its name and notes, to compare judges by everything else."""
    paths = (card.model, card.adapter, *card.options.values())
    # Such paths name other files in another folder.
    is_relative = any(isinstance(path, str) and path.startswith("./") for path in paths)
    folder = str(Path(card.folder).resolve()) if is_relative and card.folder is not None else None
    return replace(card, name="", title="", notes=None, folder=folder, published=())


def _folder_names(names: Sequence[str]) -> list[str]:
    slugs = [re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:_LONGEST_NAME] for name in names]
    # Two names may map to one folder, also where the file system ignores case.
    n_each = Counter(slug.lower() for slug in slugs)
    return [
        slug
        if slug == name and n_each[slug.lower()] == 1
        else f"{slug}-{hashlib.sha256(name.encode()).hexdigest()[:6]}".lstrip("-")
        for slug, name in zip(slugs, names, strict=True)
    ]


def _spec(task: Task, card: JudgeCard, settings: dict[str, Any]) -> RunSpec:
    is_scalar = card.protocols == ("scalar",) and not card.prompts
    if task == "rate":
        spec = make_spec(task, card, **settings)
        if is_scalar or spec.protocol == "scalar":
            raise ConfigError(
                f"judge {card.name!r} gives scores without a fixed scale, which cannot be "
                "averaged with other judges' ratings",
                hint="Rate with it alone. In autoj judge it votes on pairs by the higher score.",
            )
        return spec
    subjects = {its.subject for its in protocols_of(card)}
    if "pair" in subjects or "response" not in subjects:
        return make_spec(task, card, **settings)
    if settings.get("protocol") is not None and not is_scalar:
        return make_spec(task, card, **settings)
    kept = {
        name: value
        for name, value in settings.items()
        if name not in ("protocol", "orders", "on_conflict")
    }
    return make_spec("rate", card, **kept)


def choose_method(jurors: Sequence[Juror], wanted: Method | None) -> Method:
    """Chooses the rule for pairs: the given one, else the mean if each judge gives probabilities.

    Raises:
        ConfigError: the mean is asked for and a judge gives no probabilities.
    """
    without = [juror for juror in jurors if not _gives_probabilities(juror.spec)]
    if wanted == "mean" and without:
        juror = without[0]
        raise ConfigError(
            f"--jury mean needs probabilities, and judge {juror.name!r} gives none with protocol "
            f"{juror.spec.protocol!r}",
            hint="--jury majority counts votes.",
        )
    return wanted or ("majority" if without else "mean")


def _gives_probabilities(spec: RunSpec) -> bool:
    if not spec.has_orders:
        return spec.calibration is not None
    return spec.plain_protocol.gives_probabilities


def pairs_alone(cases: Cases) -> Cases:
    """A data set in which rows other than pairs are bad rows, for a judge that rates any number.

    Its run then holds the same cases as those of the judges that compare.
    """

    def read() -> Iterator[ReadRow]:
        for line, case in cases.read():
            if isinstance(case, DataError) or len(case.responses) == 2:
                yield ReadRow(line, case)
            else:
                error = DataError(
                    f"case {case.id!r} has {len(case.responses)} responses; expected two",
                    path=cases.place,
                    line=line,
                    field="responses",
                )
                yield ReadRow(line, error)

    return replace(cases, read=read)
