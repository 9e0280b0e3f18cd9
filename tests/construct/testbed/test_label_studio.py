"""A testbed's pairs go to Label Studio and its answers come back, by its documented JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from autoj.construct.testbed.annotating import Annotation, annotators, last_answers, read_answers
from autoj.construct.testbed.build import build
from autoj.construct.testbed.folder import Testbed as Bed
from autoj.construct.testbed.label_studio import read_export, write_tasks
from autoj.construct.testbed.settings import BuildSources
from autoj.errors import DataError, RunBusy

from .scripted_policies import SETTINGS


@pytest.fixture
def bed(sources: BuildSources, tmp_path: Path) -> Bed:
    return build(SETTINGS, sources, tmp_path / "bed")


@pytest.fixture
def tasks(bed: Bed, tmp_path: Path) -> list[dict[str, Any]]:
    write_tasks(bed, tmp_path / "tasks.json")
    found: list[dict[str, Any]] = json.loads((tmp_path / "tasks.json").read_bytes())
    return found


def annotation(choice: str | None, user: object, **more: object) -> dict[str, object]:
    """An annotation as Label Studio exports it."""
    result = {
        "id": "Dx_aB91ISN",
        "type": "choices",
        "value": {"choices": [choice]},
        "origin": "manual",
        "to_name": "query",
        "from_name": "better",
    }
    return {
        "id": 1001,
        "completed_by": user,
        "result": [] if choice is None else [result],
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2026-03-09T22:16:08.728353Z",
        "updated_at": "2026-03-09T22:16:08.728378Z",
        "lead_time": 4.288,
        "task": 1,
        **more,
    }


def write_export(
    path: Path, tasks: list[dict[str, Any]], annotations: list[list[dict[str, object]]]
) -> Path:
    rows = [
        {"id": number, "data": task["data"], "annotations": its, "predictions": [], "project": 83}
        for number, (task, its) in enumerate(zip(tasks, annotations, strict=True), start=1)
    ]
    path.write_text(json.dumps(rows))
    return path


def test_tasks_show_texts_alone_and_the_configuration_names_their_fields(
    bed: Bed, tasks: list[dict[str, Any]], tmp_path: Path
) -> None:
    waiting = {pair.case.id: pair.case for pair in bed.pairs() if pair.waits}
    assert {task["data"]["case_id"] for task in tasks} == set(waiting)
    for task in tasks:
        data = task["data"]
        assert set(data) == {"query", "response_1", "response_2", "case_id", "pair"}
        texts = {response.text for response in waiting[data["case_id"]].responses}
        assert {data["response_1"], data["response_2"]} == texts
    config = ElementTree.parse(tmp_path / "tasks.xml").getroot()
    values = {tag.get("value") for tag in config.iter("Text")}
    assert values == {"$query", "$response_1", "$response_2"}
    choices = config.find("Choices")
    assert choices is not None
    assert choices.get("toName") in {tag.get("name") for tag in config.iter("Text")}
    assert [tag.get("value") for tag in choices] == ["Response 1", "Response 2", "Tie"]


def test_answers_come_back_in_the_order_of_the_case(
    bed: Bed, tasks: list[dict[str, Any]], tmp_path: Path
) -> None:
    users = ({"id": 7, "email": "anna@example.com", "first_name": "", "last_name": ""}, 9)
    choices = ("Response 1", "Response 2", "Tie", None)
    annotations = [
        [annotation(choice, users[0]), annotation(choice, users[1], was_cancelled=choice == "Tie")]
        for choice in choices
    ]
    found = read_export(bed, write_export(tmp_path / "export.json", tasks, annotations))
    assert found.n_new == {"label-studio-7": 4, "label-studio-9": 4}
    assert annotators(bed) == ("label-studio-7", "label-studio-9")
    pairs = {pair.case.id: pair.case for pair in bed.pairs()}
    for name in annotators(bed):
        answers = last_answers(read_answers(bed, name))
        for task, choice in zip(tasks, choices, strict=True):
            data = task["data"]
            winner = answers[data["case_id"]].winner
            if choice in ("Response 1", "Response 2"):
                assert winner in ("a", "b")
                better = pairs[data["case_id"]].responses["ab".index(str(winner))].text
                assert better == data[choice.lower().replace(" ", "_")]
            else:
                cancelled = choice is None or name == "label-studio-9"
                assert winner == (None if cancelled else "tie")
    again = read_export(bed, tmp_path / "export.json")
    assert again.n_new == {"label-studio-7": 0, "label-studio-9": 0}
    assert again.n_known == 8


def test_of_two_answers_of_a_person_the_later_counts(
    bed: Bed, tasks: list[dict[str, Any]], tmp_path: Path
) -> None:
    late = annotation("Tie", 3, updated_at="2026-03-10T00:00:00Z")
    early = annotation("Response 1", 3)
    path = write_export(tmp_path / "export.json", tasks[:2], [[late, early], []])
    found = read_export(bed, path)
    assert (found.n_again, found.n_unanswered) == (1, 1)
    assert [one.winner for one in read_answers(bed, "label-studio-3")] == ["tie"]


def _other_project(rows: list[Any]) -> Any:
    rows[1]["data"]["case_id"] = "cats/1"
    return rows


def _other_text(rows: list[Any]) -> Any:
    rows[0]["data"]["response_1"] += "!"
    return rows


def _swapped(rows: list[Any]) -> Any:
    data = rows[0]["data"]
    data["response_1"], data["response_2"] = data["response_2"], data["response_1"]
    return rows


def _other_choice(rows: list[Any]) -> Any:
    rows[0]["annotations"][0]["result"][0]["value"]["choices"] = ["Both"]
    return rows


def _nobody(rows: list[Any]) -> Any:
    del rows[0]["annotations"][0]["completed_by"]
    return rows


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_other_project, "task 2 is about 'cats/1', which is no open pair of this testbed"),
        (_other_text, "task 1 shows other texts than pair"),
        (_swapped, "task 1 shows other texts than pair"),
        (_other_choice, r"task 1 has the choices \['Both'\]; expected one of 'Response 1'"),
        (_nobody, "task 1 does not say who completed it"),
        (lambda rows: {"rows": rows}, "it is not a list of tasks"),
        (lambda rows: [], "it has no task"),
        (lambda rows: [{"data": rows[0]["data"]}], "task 1 has no list of annotations"),
        (
            lambda rows: [{**rows[0]["data"], "better": "Tie", "annotator": 1, "annotation_id": 2}],
            "not JSON-MIN",
        ),
        (lambda rows: "no", "it is not a list of tasks"),
    ],
)
def test_an_export_of_something_else_is_refused_and_nothing_is_added(
    change: Any, said: str, bed: Bed, tasks: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = write_export(tmp_path / "export.json", tasks, [[annotation("Tie", 1)] for _ in tasks])
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with pytest.raises(DataError, match=said):
        read_export(bed, path)
    assert annotators(bed) == ()


def test_a_file_that_is_no_json_is_a_user_error(bed: Bed, tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text("[{")
    with pytest.raises(DataError, match="is not JSON"):
        read_export(bed, tmp_path / "export.json")
    with pytest.raises(DataError):
        read_export(bed, tmp_path / "missing.json")


def test_all_answers_are_added_or_none(
    bed: Bed, tasks: list[dict[str, Any]], tmp_path: Path
) -> None:
    both = [[annotation("Tie", 1), annotation("Tie", 2)] for _ in tasks]
    path = write_export(tmp_path / "export.json", tasks, both)
    with Annotation(bed, "label-studio-2").opened(), pytest.raises(RunBusy):
        read_export(bed, path)
    assert read_answers(bed, "label-studio-1") == []
