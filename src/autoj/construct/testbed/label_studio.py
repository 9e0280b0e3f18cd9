"""A testbed's open pairs as a project of Label Studio, out and in, by its documented JSON.

Out: a list of tasks, `{"data": {…}}`, and a labeling configuration whose tags name the fields of
`data`. In: the export named "JSON", a list of tasks with `annotations`, each with `completed_by`
and a `result` of which `value.choices` has the answer.

All annotators of a project see a pair in the same order, which is drawn by the seed. A task holds
the query and both texts, the id of the pair and its digest; nothing in it says who wrote what.

**Source**: Label Studio's documentation, "Label Studio JSON format of annotated tasks" and the tags
View, Header, Text, Choices and Choice.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import orjson

from autoj.construct.testbed.annotating import (
    Annotation,
    Choice,
    Page,
    PairAnswer,
    answer_of,
    check_annotator,
    last_answers,
    page_of,
    read_answers,
)
from autoj.construct.testbed.folder import DrawnPair, Testbed
from autoj.errors import DataError
from autoj.inputs import open_file
from autoj.jsonl import write_records

_ORDER_OF = "label-studio"
"""Stands for the annotator in the draw of sides."""
_NAME = "better"
_CHOICES: dict[str, Choice] = {"Response 1": "1", "Response 2": "2", "Tie": "tie"}
_MOST_BYTES = 512_000_000
_QUESTION = "Which response is better?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The answers of an export, by what became of them."""

    n_new: dict[str, int]
    """Answers that were added, by annotator."""
    n_known: int
    """Answers that the testbed had already."""
    n_again: int
    """Answers of an export that a later one of the same person to the same pair replaces."""
    n_unanswered: int
    """Tasks without an annotation."""


def write_tasks(testbed: Testbed, path: Path, cases: frozenset[str] | None = None) -> int:
    """Writes the tasks of all pairs that wait for people.

    Args:
        testbed: the testbed.
        path: the file of tasks; the configuration goes beside it.
        cases: the ids of pairs to write; None writes all.

    Returns:
        The number of tasks.

    Raises:
        StorageFull: the disk is full.
    """
    tasks = [{"data": _data(page)} for page in _pages(testbed).values() if _is_in(page, cases)]
    write_records(path, [tasks], lambda record: orjson.dumps(record, option=orjson.OPT_INDENT_2))
    write_records(config_path(path), [labeling_config()], lambda text: str(text).encode())
    return len(tasks)


def config_path(path: Path) -> Path:
    """The file of the labeling configuration beside a file of tasks."""
    return path.with_suffix(".xml")


def labeling_config() -> str:
    """The labeling configuration of the project: the query, two texts side by side, three choices.

    >>> ElementTree.fromstring(labeling_config()).find("Choices").get("toName")
    'query'
    """
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Header", value="Query")
    ElementTree.SubElement(view, "Text", name="query", value="$query")
    beside = ElementTree.SubElement(view, "View", style="display: flex; gap: 2em")
    for number in (1, 2):
        side = ElementTree.SubElement(beside, "View", style="flex: 1")
        ElementTree.SubElement(side, "Header", value=f"Response {number}")
        field = f"response_{number}"
        ElementTree.SubElement(side, "Text", name=field, value=f"${field}")
    ElementTree.SubElement(view, "Header", value=_QUESTION)
    choices = ElementTree.SubElement(
        view, "Choices", name=_NAME, toName="query", choice="single", required="true",
        showInline="true",
    )  # fmt: skip
    for value, hotkey in zip(_CHOICES, ("1", "2", "t"), strict=True):
        ElementTree.SubElement(choices, "Choice", value=value, hotkey=hotkey)
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def read_export(testbed: Testbed, path: Path) -> Imported:
    """Adds the answers of an export to their annotators' files.

    An annotator is called `label-studio-ID` after the user's number. Tasks that were skipped are
    skips. An answer that is there already is not added again.

    Args:
        testbed: the testbed.
        path: the export, in Label Studio's format "JSON".

    Raises:
        DataError: the file is no such export, or one of another project; nothing is added.
    """
    pages = _pages(testbed)
    n_again = n_known = n_unanswered = 0
    given: dict[str, dict[str, PairAnswer]] = {}
    for number, task in enumerate(_tasks(path), start=1):
        page = _page(path, number, task, pages)
        annotations = _list(path, number, task, "annotations")
        n_unanswered += not annotations
        for annotation in sorted(annotations, key=_moment):
            name, answer = _answer(path, number, annotation, page)
            n_again += page.case_id in given.setdefault(name, {})
            given[name][page.case_id] = answer
    new: dict[str, list[PairAnswer]] = {}
    for name, answers in given.items():
        known = last_answers(read_answers(testbed, name))
        new[name] = [one for one in answers.values() if not _same(one, known.get(one.case_id))]
        n_known += len(answers) - len(new[name])
    with ExitStack() as opened:
        # All files are open before the first answer is added, so that all are added or none.
        at_work = {
            name: opened.enter_context(Annotation(testbed, name).opened())
            for name, answers in new.items()
            if answers
        }
        for name, annotation in at_work.items():
            for answer in new[name]:
                annotation.keep(answer)
    n_new = {name: len(answers) for name, answers in new.items()}
    return Imported(n_new=n_new, n_known=n_known, n_again=n_again, n_unanswered=n_unanswered)


def _pages(testbed: Testbed) -> dict[str, Page]:
    """The pages of all pairs that wait, by case id."""
    seed = testbed.settings().seed
    waiting: Sequence[DrawnPair] = [pair for pair in testbed.pairs() if pair.waits]
    return {pair.case.id: page_of(pair.case, _ORDER_OF, seed) for pair in waiting}


def _is_in(page: Page, cases: frozenset[str] | None) -> bool:
    return cases is None or page.case_id in cases


def _data(page: Page) -> dict[str, str]:
    return {
        "query": page.query,
        "response_1": page.responses[0],
        "response_2": page.responses[1],
        "case_id": page.case_id,
        "pair": page.pair,
    }


def _same(answer: PairAnswer, known: PairAnswer | None) -> bool:
    return known is not None and (answer.winner, answer.pair) == (known.winner, known.pair)


def _tasks(path: Path) -> Iterator[Mapping[str, Any]]:
    with open_file(path) as stream:
        content = stream.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise DataError(f"is longer than {_MOST_BYTES:,} bytes", path=path)
    try:
        found = orjson.loads(content)
    except ValueError as error:
        raise DataError(f"is not JSON ({error})", path=path) from None
    if not isinstance(found, list) or not all(isinstance(task, dict) for task in found):
        raise _not_an_export(path, "it is not a list of tasks")
    if not found:
        raise _not_an_export(path, "it has no task")
    yield from found


def _page(path: Path, number: int, task: Mapping[str, Any], pages: Mapping[str, Page]) -> Page:
    """The page that a task shows.

    Raises:
        DataError: the task is of another project, or its texts were changed.
    """
    data = task.get("data")
    if not isinstance(data, dict):
        raise _not_an_export(path, f"task {number} has no data", hint_min="annotation_id" in task)
    case_id = data.get("case_id")
    page = pages.get(case_id) if isinstance(case_id, str) else None
    if page is None:
        raise DataError(
            f"task {number} is about {case_id!r}, which is no open pair of this testbed",
            path=path,
            hint="It seems to be the export of another project. Nothing was added.",
        )
    if data.get("pair") != page.pair or _data(page) != {
        name: data.get(name) for name in _data(page)
    }:
        raise DataError(
            f"task {number} shows other texts than pair {case_id!r} has",
            path=path,
            hint="It was made of another build, or changed since. Nothing was added.",
        )
    return page


def _answer(path: Path, number: int, annotation: object, page: Page) -> tuple[str, PairAnswer]:
    """The annotator and the answer of an annotation."""
    if not isinstance(annotation, dict):
        raise _not_an_export(path, f"task {number} has an annotation that is no object")
    choice = "skip" if annotation.get("was_cancelled") else _choice(path, number, annotation)
    updated = annotation.get("updated_at")
    time = updated if isinstance(updated, str) else None
    return _annotator(path, number, annotation), answer_of(page, choice, "label-studio", time)


def _choice(path: Path, number: int, annotation: Mapping[str, Any]) -> Choice:
    results = annotation.get("result")
    for result in results if isinstance(results, list) else []:
        if not isinstance(result, dict) or result.get("from_name") != _NAME:
            continue
        value = result.get("value")
        chosen = value.get("choices") if isinstance(value, dict) else None
        if isinstance(chosen, list) and len(chosen) == 1 and chosen[0] in _CHOICES:
            return _CHOICES[chosen[0]]
        raise DataError(
            f"task {number} has the choices {chosen!r}; expected one of "
            f"{', '.join(map(repr, _CHOICES))}",
            path=path,
        )
    # Submitted without a choice, which the configuration does not allow.
    return "skip"


def _annotator(path: Path, number: int, annotation: Mapping[str, Any]) -> str:
    """The name of the person: `completed_by` is a number, or an object with one."""
    by = annotation.get("completed_by")
    user = by.get("id") if isinstance(by, dict) else by
    if not isinstance(user, int) or isinstance(user, bool):
        raise DataError(f"task {number} does not say who completed it", path=path)
    return check_annotator(f"label-studio-{user}")


def _list(path: Path, number: int, task: Mapping[str, Any], name: str) -> list[Any]:
    found = task.get(name)
    if not isinstance(found, list):
        raise _not_an_export(path, f"task {number} has no list of {name}")
    return found


def _moment(annotation: object) -> str:
    """The time of an annotation as text, which sorts as it is written: ISO 8601 in UTC."""
    found = annotation.get("updated_at") if isinstance(annotation, dict) else None
    return found if isinstance(found, str) else ""


def _not_an_export(path: Path, said: str, *, hint_min: bool = False) -> DataError:
    """The error of a file in another format."""
    hint = "In Label Studio choose Export, then the format JSON"
    return DataError(
        f"is no export of Label Studio: {said}",
        path=path,
        hint=f"{hint}, not JSON-MIN." if hint_min else f"{hint}.",
    )
