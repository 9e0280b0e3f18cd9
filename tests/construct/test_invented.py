"""The filter of judgments that quote what nobody wrote, in both stages that ask a teacher."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from autoj.backends.scripted import ScriptedBackend
from autoj.construct import teacher as teachers
from autoj.construct.binding import RECIPE
from autoj.construct.invented import REASON, invention_fault
from autoj.construct.pipeline import construct
from autoj.construct.recipe import ConstructRecipe, read_construct_recipe
from autoj.errors import SpecMismatch
from autoj.jsonl import write_records
from autoj.records import Case, JudgeCard, Message, Request, Response
from autoj.scenarios import shipped_library

from .scripted_teacher import _CARD

CASE = Case(
    id="1",
    query="What is a budget?",
    responses=(Response(text="A plan for money."), Response(text="I cannot say.")),
    cluster="what is a budget",
    scenario="analyzing_general",
    history=(Message(role="user", content="We spoke of the household."),),
    reference="Income and expenses side by side.",
)


@pytest.mark.parametrize(
    ("judgment", "detail"),
    [
        ('Response 1 says "a plan for money".', None),
        ('Response 1 repeats "we spoke of the household".', None),
        ('Response 1 has the words "income and expenses".', None),
        ('It says "a plan for war".', '"a plan for war"'),
        ('A heading states "debt limits growth".', '"debt limits growth" (of the criteria)'),
        ('It is judged by the term "analyzing general".', None),
    ],
)
def test_texts_of_the_case_and_names_of_the_task_may_be_quoted(
    judgment: str, detail: str | None
) -> None:
    wanted = None if detail is None else (REASON, detail)
    assert invention_fault(judgment, CASE, shipped_library()) == wanted


class _Inventor(ScriptedBackend):
    """Quotes a true sentence of the first row, and an invented one of the others."""

    def __init__(self, card: JudgeCard) -> None:
        super().__init__(card, self._reply)

    def _reply(self, request: Request) -> str:
        said = "a plan for money" if request.case_id.startswith("own/0") else "a map of gold"
        if request.protocol == "single-merge":
            return f'It says "{said}".\n\nRating: [[4]]'
        if request.protocol.startswith("single"):
            return "It is thin."
        return f'- Depth: Response 1 says "{said}".\n\nSo, the final decision is Response 1.'


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ConstructRecipe:
    monkeypatch.setattr(teachers, "load_engine", lambda card, watch: _Inventor(card))
    rows = [
        {"id": str(at), "query": f"What is budget {at}?", "label": "a", "scenario": "planning",
         "responses": ["A plan for money.", "I cannot say."]}
        for at in range(3)
    ]  # fmt: skip
    write_records(tmp_path / "pairs.jsonl", rows)
    (tmp_path / "teacher.yaml").write_text(_CARD)
    card = tmp_path / "teacher.yaml"
    path = tmp_path / "recipe.yaml"
    path.write_text(
        f"title: t\nsources: [{{data: {tmp_path / 'pairs.jsonl'}, name: own}}]\nstages:\n"
        f"  - {{stage: collect, shuffle: false}}\n  - {{stage: judge-singles, teacher: {card}}}\n"
        f"  - {{stage: judge-pairs, teacher: {card}}}\n"
    )
    return read_construct_recipe(path)


def test_both_stages_drop_them_by_name_and_say_the_words(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    done = construct(_dropping(recipe), tmp_path / "out")
    for name in ("judge-singles", "judge-pairs"):
        dropped = [each for each in done.stage(name).dropped() if each.reason == REASON]
        assert [each.detail for each in dropped] == ['"a map of gold"'] * 2
    assert [case.id.partition("#")[0] for case in done.stage("judge-pairs").kept()] == ["own/0"] * 2


def _told(recipe: ConstructRecipe, treatment: str) -> ConstructRecipe:
    change = {"invented_quotations": treatment}
    return recipe.model_copy(
        update={
            "stages": (recipe.stages[0], *(s.model_copy(update=change) for s in recipe.stages[1:]))
        }
    )


def _dropping(recipe: ConstructRecipe) -> ConstructRecipe:
    return _told(recipe, "drop")


def test_they_are_kept_unless_the_recipe_says_otherwise(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert construct(recipe, out).summaries[-1].n_kept == 6
    assert construct(_told(recipe, "keep"), out).summaries[-1].n_kept == 6
    with pytest.raises(SpecMismatch, match="invented_quotations: was 'keep', is now 'drop'"):
        construct(_dropping(recipe), out)


def test_a_folder_of_before_the_filter_goes_on_without_it(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    construct(recipe, out)
    record = orjson.loads((out / RECIPE).read_bytes())
    for stage in record["recipe"]["stages"]:
        stage.pop("invented_quotations", None)
        stage.pop("max_characters", None)
    (out / RECIPE).write_bytes(orjson.dumps(record))
    assert construct(recipe, out).summaries[-1].n_kept == 6
    with pytest.raises(SpecMismatch, match="invented_quotations: was 'keep', is now 'drop'"):
        construct(_dropping(recipe), out)


def test_a_folder_that_drops_them_is_not_gone_on_with_by_default(
    recipe: ConstructRecipe, tmp_path: Path
) -> None:
    construct(_dropping(recipe), tmp_path / "out")
    with pytest.raises(SpecMismatch, match="invented_quotations: was 'drop', is now 'keep'"):
        construct(recipe, tmp_path / "out")
