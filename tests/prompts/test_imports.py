"""Other tools' layouts: AlpacaEval's annotators and Prometheus's rubrics, as prompts of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from autoj.errors import ConfigError, DataError
from autoj.prompts import import_alpaca_eval, import_prometheus, read_prompt, write_prompt
from autoj.protocols import protocol_from
from autoj.records import Case, Completion, Decision, Rating, Response, Unreadable

CHATML = """\
<|im_start|>system
You rank {"models": 2}.
<|im_end|>
<|im_start|>user
{"instruction": \"\"\"{instruction}\"\"\"}
m: {output_1}
M: {output_2}
<|im_end|>"""
CLAUDE = "\n\nHuman: Which is best?\n{instruction}\n(a) {output_1}\n(b) {output_2}\n\nAssistant:"
CASE = Case(
    id="c", query="Why {x}?", cluster="c", responses=(Response(text="A"), Response(text="B"))
)


def annotator(folder: Path, text: str = CLAUDE, **config: Any) -> Path:
    """A folder in AlpacaEval's layout."""
    mine = folder / "mine"
    mine.mkdir(exist_ok=True)
    (mine / "text.txt").write_text(text, encoding="utf-8")
    known = {"prompt_template": "mine/text.txt", "fn_completions": "openai_completions", **config}
    (mine / "configs.yaml").write_text(yaml.safe_dump({"mine": known}), encoding="utf-8")
    return mine


def shown(folder: Path) -> Any:
    """The protocol of an imported annotator, by way of its file's text."""
    prompt = import_alpaca_eval(folder)
    text = write_prompt(prompt)
    assert read_prompt(text, Path("my.md")) == prompt
    return protocol_from(text, Path("my.md"))


def test_the_messages_are_those_of_the_annotator(tmp_path: Path) -> None:
    protocol = shown(annotator(tmp_path, CHATML, fn_completion_parser="ranking_parser"))
    system, user = protocol.build(CASE, (1, 0)).messages
    assert (system.role, system.content) == (
        "system",
        'You rank {"models": 2}.',
    )
    assert user.content == '{"instruction": """Why {x}?"""}\nm: B\nM: A'
    (only,) = (
        shown(annotator(tmp_path, completion_parser_kwargs=BY_REGEX)).build(CASE, (0, 1)).messages
    )
    assert only.content == "Which is best?\nWhy {x}?\n(a) A\n(b) B"


BY_REGEX = {
    "outputs_to_match": {1: r"(?:^|\n) ?Output \(a\)", 2: r"(?:^|\n) ?Output \(b\)", 0: "(?i)tie"}
}
PARSED = [
    ({"completion_parser_kwargs": BY_REGEX}, "Output (a)", "1"),
    ({"completion_parser_kwargs": BY_REGEX}, "Well:\n Output (b)", "2"),
    ({"completion_parser_kwargs": BY_REGEX}, "TIE", "tie"),
    # AlpacaEval stores null where the number of matches is not one.
    ({"completion_parser_kwargs": BY_REGEX}, "Output (a)\nOutput (b)", None),
    ({"completion_parser_kwargs": BY_REGEX}, "the first", None),
    (
        {"fn_completion_parser": "ranking_parser"},
        "[{'model': 'model_1', 'rank': 1}, {'model': 'model_2', 'rank': 2}]",
        "1",
    ),
    (
        {"fn_completion_parser": "ranking_parser"},
        '[{"rank": 1, "model": "model_2"}, {"rank": 2, "model": "model_1"}]',
        "2",
    ),
    (
        {"fn_completion_parser": "ranking_parser"},
        "[{'model': 'model_1', 'rank': 3}, {'model': 'model_2', 'rank': 1}]",
        None,
    ),
    (
        {
            "fn_completion_parser": "ranking_parser",
            "completion_parser_kwargs": {"model_1_name": "m"},
        },
        "[{'model': 'M', 'rank': 1}, {'model': 'm', 'rank': 2}]",
        "2",
    ),
    (
        {
            "fn_completion_parser": "json_parser",
            "completion_parser_kwargs": {"annotation_key": "best"},
        },
        'blah ```json\n{"why": "so", "best": 2}```',
        "2",
    ),
    (
        {
            "fn_completion_parser": "pipeline_meta_parser",
            "completion_parser_kwargs": {
                "parsers_to_kwargs": {
                    "json_parser": {"annotation_key": "first_is_best"},
                    "replace_parser": {"replacer": {"True": 1, "False": 2}},
                }
            },
        },
        '{"first_is_best": false}',
        "2",
    ),
]


@pytest.mark.parametrize(("config", "text", "expected"), PARSED)
def test_answers_are_read_as_its_parser_reads_them(
    tmp_path: Path, config: dict[str, Any], text: str, expected: str | None
) -> None:
    reading = shown(annotator(tmp_path, **config)).parse(text)
    if expected is None:
        assert isinstance(reading, Unreadable)
    else:
        assert isinstance(reading, Decision)
        assert reading.shown == expected


def test_tokens_that_are_compared_become_choices(tmp_path: Path) -> None:
    kwargs = {"numerator_token": "m", "denominator_tokens": ["m", "M"], "is_binarize": False}
    protocol = shown(
        annotator(
            tmp_path,
            CHATML,
            fn_completion_parser="logprob_parser",
            completion_parser_kwargs=kwargs,
        )
    )
    body = protocol.build(CASE, (0, 1))
    assert (body.prefix, body.choices) == (None, ("m", "M"))
    answer = Completion(
        key="k", text="M", finish="stop", prompt_tokens=1, completion_tokens=1,
        choice_logprobs=(-2.0, -1.0),
    )  # fmt: skip
    reading = protocol.read(answer)
    assert (reading.shown, round(reading.probabilities[1], 3)) == ("2", 0.731)
    # Their case is all that tells the two apart.
    assert protocol.parse("M").shown == "2"
    assert protocol.parse("m").shown == "1"


NOT_EXPRESSED = [
    ({"fn_completion_parser": "lmsys_parser"}, "read by lmsys_parser"),
    ({"batch_size": 5, "completion_parser_kwargs": BY_REGEX}, "asks about 5 pairs"),
    (
        {"completions_kwargs": {"tools": [{}]}, "completion_parser_kwargs": BY_REGEX},
        "calling a function",
    ),
    (
        {
            "fn_completion_parser": "logprob_parser",
            "completion_parser_kwargs": {
                "numerator_token": "m", "denominator_tokens": ["m", "M"], "log_prob_index": -1,
            },
        },
        "after the judge has reasoned",
    ),
    ({"completion_parser_kwargs": {"outputs_to_match": {3: "x"}}}, "means '3'"),
    ({"completion_parser_kwargs": {"outputs_to_match": {1: "(?=x)"}}}, "not one of RE2"),
    ({}, "no outputs_to_match"),
]  # fmt: skip


@pytest.mark.parametrize(("config", "said"), NOT_EXPRESSED)
def test_what_a_file_cannot_say_is_refused(
    tmp_path: Path, config: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match="annotator 'mine' cannot become") as told:
        import_alpaca_eval(annotator(tmp_path, **config))
    assert said in str(told.value)


def test_a_column_that_pairs_lack_is_told(tmp_path: Path) -> None:
    folder = annotator(tmp_path, CLAUDE + "{input}", completion_parser_kwargs=BY_REGEX)
    with pytest.raises(ConfigError, match=r"the column \{input\}, which pairs lack"):
        import_alpaca_eval(folder)


@pytest.mark.parametrize("template", ["a" * 300, "b/" * 3000])
def test_a_path_too_long_for_the_system_is_told(tmp_path: Path, template: str) -> None:
    with pytest.raises(DataError, match="there is no file"):
        import_alpaca_eval(annotator(tmp_path, prompt_template=template))


def test_a_strangers_folder_reads_no_file_but_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "evaluators"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("{instruction} {output_1} {output_2}", "utf-8")
    for template in ("../secret.txt", str(tmp_path / "secret.txt"), "mine/../../secret.txt"):
        mine = annotator(folder, prompt_template=template)
        with pytest.raises(DataError, match="there is no file"):
            import_alpaca_eval(mine)
    (folder / "mine" / "link.txt").symlink_to(tmp_path / "secret.txt")
    with pytest.raises(DataError, match="there is no file"):
        import_alpaca_eval(annotator(folder, prompt_template="mine/link.txt"))


BROKEN = [
    ("[", "is not YAML"),
    ("- a", "expected annotators by name"),
    ("mine: 5", "has no annotator 'mine'"),
    ("mine: {prompt_template: 5}", "expected the path of a text"),
    ("a: {}\nb: {}", "has several annotators: a, b"),
    ("mine: &a [*a]", "an alias stands inside"),
]


@pytest.mark.parametrize(("text", "said"), BROKEN)
def test_a_broken_folder_is_told(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "configs.yaml").write_text(text, encoding="utf-8")
    with pytest.raises((DataError, ConfigError), match=said):
        import_alpaca_eval(tmp_path)
    with pytest.raises(DataError, match="nowhere: there is no such folder"):
        import_alpaca_eval(tmp_path / "nowhere")
    (tmp_path / "other").mkdir()
    with pytest.raises(DataError, match=r"holds no configs\.yaml"):
        import_alpaca_eval(tmp_path / "other")


RUBRIC = {
    "criteria": "Is the {tone} polite?",
    **{f"score{score}_description": f"Description {score}." for score in range(1, 6)},
}


def rubric(folder: Path, content: object = RUBRIC) -> Path:
    path = folder / "my rubric.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize("kind", ["single", "pairwise"])
def test_a_rubric_is_shown_whole(tmp_path: Path, kind: Any, reference: bool) -> None:
    prompt = import_prometheus(rubric(tmp_path), kind, reference=reference)
    text = write_prompt(prompt)
    assert read_prompt(text, Path("my.md")) == prompt
    assert prompt.name == "my-rubric"
    protocol = protocol_from(text, Path("my.md"))
    assert protocol.needs_reference == reference
    case = Case(id="c", query="Q?", cluster="c", reference="Ref.", responses=CASE.responses)
    page = (0,) if kind == "single" else (0, 1)
    content = protocol.build(case, page).messages[0].content
    assert "Criterion: Is the {tone} polite?\n" in content
    for score in range(1, 6):
        assert f"\n{score}: Description {score}.\n" in content
    assert ("[Reference answer]\nRef.\n[End of reference answer]" in content) == reference


SCORED = [
    ("It is polite.\n\nScore: 4", 7.75),
    ("**Score:** 5", 10.0),
    ("Score: 1/5.", 1.0),
    ("Score: 2\nOn reflection:\nScore: 3", 5.5),
    ("Score: 6", None),
    ("Score: 4 or 5", None),
    ("I give it 4.", None),
]


@pytest.mark.parametrize(("text", "expected"), SCORED)
def test_a_score_from_1_to_5_is_read(tmp_path: Path, text: str, expected: float | None) -> None:
    prompt = write_prompt(import_prometheus(rubric(tmp_path)))
    reading = protocol_from(prompt, Path("my.md")).parse(text)
    if expected is None:
        assert isinstance(reading, Unreadable)
    else:
        assert isinstance(reading, Rating)
        assert reading.value == expected


def test_a_comparison_by_a_rubric_is_read(tmp_path: Path) -> None:
    protocol = protocol_from(
        write_prompt(import_prometheus(rubric(tmp_path), "pairwise")), Path("my.md")
    )
    for text, expected in (("Verdict: 2", "2"), ("Verdict: Tie.", "tie")):
        reading = protocol.parse(f"They differ.\n\n{text}")
        assert isinstance(reading, Decision)
        assert reading.shown == expected
    assert isinstance(protocol.parse("Verdict: 1 or 2"), Unreadable)


NO_RUBRICS = [
    ([], "expected an object"),
    ({"criteria": "x"}, "score1_description: is missing"),
    (RUBRIC | {"score3_description": ""}, "score3_description: expected text"),
    (RUBRIC | {"criteria": "x" * 30_000}, "longer than 20,000"),
]


@pytest.mark.parametrize(("content", "said"), NO_RUBRICS)
def test_what_is_no_rubric_is_told(tmp_path: Path, content: object, said: str) -> None:
    with pytest.raises(DataError, match=said):
        import_prometheus(rubric(tmp_path, content))
    (tmp_path / "x.json").write_text("{" * 50_000, encoding="utf-8")
    with pytest.raises(DataError, match="is not JSON"):
        import_prometheus(tmp_path / "x.json")


def test_a_missing_rubric_is_told_as_one(tmp_path: Path) -> None:
    for path in (tmp_path / "rubric.json", tmp_path):
        with pytest.raises(DataError, match="there is no such rubric") as told:
            import_prometheus(path)
        assert told.value.hint is not None
        assert "score5_description" in told.value.hint
    (tmp_path / "long.json").write_text(" " * 300_000)
    with pytest.raises(DataError, match="longer than a rubric may be"):
        import_prometheus(tmp_path / "long.json")
