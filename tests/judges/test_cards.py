"""Judge cards: what ships is sound, and what is wrong with a card of one's own is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from autoj import components
from autoj.backends._adapters import read_adapter
from autoj.chat import WRAPPERS
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.judges import card_text, judge_names, load_card
from autoj.protocols import digest_prompts, load_protocol
from autoj.records import Decoding, PublishedFigure

BASELINES = {"autoj-scenario-classifier", "openassistant-rm", "pandalm", "selfee", "steamshp"}
every_card = pytest.mark.parametrize("name", judge_names())

GOOD: dict[str, Any] = {
    "title": "Mine",
    "backend": "scripted",
    "model": "mine",
    "wrapper": "none",
    "protocols": ["pairwise", "single"],
    "context_tokens": 4096,
}


def written(folder: Path, content: Any, name: str = "mine.yaml") -> str:
    path = folder / name
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content), "utf-8")
    return str(path)


@every_card
def test_a_shipped_card_names_things_that_exist(name: str) -> None:
    card = load_card(name)
    assert card.name == name
    assert card.backend in components.names("backends")
    assert card.wrapper in WRAPPERS
    assert set(card.languages) <= {"en", "zh"}
    assert 0 < card.decoding.max_tokens < card.context_tokens


@every_card
def test_the_protocols_of_a_shipped_card_exist_and_speak_its_languages(name: str) -> None:
    card = load_card(name)
    protocols = [load_protocol(known) for known in card.protocols]
    assert [protocol.name for protocol in protocols] == list(card.protocols)
    assert {protocol.language for protocol in protocols} <= set(card.languages)
    # What is done by default must be possible: compare a pair, rate a response. The baselines of
    # the paper do what they were made for.
    subjects = {protocol.subject for protocol in protocols}
    assert {"pair", "response"} <= subjects or (name in BASELINES and len(subjects) == 1)


@pytest.mark.parametrize(
    ("name", "writes"),
    [
        ("embedded", True),
        ("embedded-0.5b", True),
        ("embedded-small", False),
        ("embedded:other.gguf", True),
    ],
)
def test_judges_whose_critiques_mislead_write_none_of_themselves(name: str, writes: bool) -> None:
    assert load_card(name).critique is writes


@every_card
def test_every_published_figure_says_where_it_was_published(name: str) -> None:
    for figure in load_card(name).published:
        assert all(text.strip() for text in (figure.name, figure.unit, figure.source)), figure
        low, high = (0, 100) if figure.unit == "%" else (-1, 1)
        assert low <= figure.value <= high


@every_card
def test_a_judge_that_runs_here_pins_its_weights_and_names_their_licence(name: str) -> None:
    card = load_card(name)
    if card.backend == "embedded":
        assert card.revision is not None
        assert card.revision.startswith("sha256:")
        assert card.licence is not None


def test_some_judge_has_published_figures() -> None:
    assert any(load_card(name).published for name in judge_names())


@pytest.mark.parametrize(("name", "nearest"), [("embeded", "embedded"), ("autoj-13", "autoj-13b")])
def test_an_unknown_judge_is_told_the_nearest(name: str, nearest: str) -> None:
    with pytest.raises(UnknownComponent, match=f"no judge '{name}'") as told:
        load_card(name)
    assert told.value.hint is not None
    assert nearest in told.value.hint


@pytest.mark.parametrize("name", ["", ":", "vllm:", ":model", "zzz"])
def test_what_is_no_name_at_all_is_an_unknown_judge_or_backend(name: str) -> None:
    with pytest.raises(UnknownComponent, match=r"there is no (judge|backend)"):
        load_card(name)


def test_any_model_of_a_backend_is_a_judge_with_the_prompts_for_untrained_ones() -> None:
    card = load_card("vllm:my-org/my-judge")
    assert (card.name, card.backend, card.model) == (
        "vllm:my-org/my-judge",
        "vllm",
        "my-org/my-judge",
    )
    assert card.protocols == ("baseline-pairwise", "baseline-single")
    assert card.published == ()


def test_a_models_name_may_hold_colons() -> None:
    card = load_card("openai:ft:gpt:mine")
    # A server puts the turns together itself.
    assert (card.model, card.wrapper) == ("ft:gpt:mine", "none")


def test_other_weights_of_the_embedded_engine_keep_its_prompts_but_not_its_digest() -> None:
    ours, other = load_card("embedded-small-base"), load_card("embedded:other.gguf")
    assert (other.name, other.model, other.revision) == ("embedded:other.gguf", "other.gguf", None)
    assert (other.protocols, other.wrapper) == (ours.protocols, ours.wrapper)


def test_an_unknown_backend_is_told_the_nearest() -> None:
    with pytest.raises(UnknownComponent, match=r"(?s)no backend 'vlm'.*vllm"):
        load_card("vlm:model")


def test_a_card_of_ones_own_is_read_by_its_path(tmp_path: Path) -> None:
    figure = {"name": "f", "value": 50.0, "unit": "%", "source": "s"}
    decoding = {"temperature": 0.5, "max_tokens": 10}
    card = load_card(
        written(tmp_path, {**GOOD, "decoding": decoding, "published": [figure]}, "my-judge.yaml")
    )
    assert (card.name, card.title, card.protocols) == ("my-judge", "Mine", ("pairwise", "single"))
    assert card.decoding == Decoding(temperature=0.5, max_tokens=10)
    assert card.published == (PublishedFigure(**figure),)


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"colour": "red"}, "colour", "unknown field; the fields are title, backend"),
    (
        {"decoding": {"temprature": 0}},
        "decoding.temprature",
        "unknown field; did you mean temperature?",
    ),
    ({"title": 5}, "title", "valid string"),
    ({"model": None}, "model", "valid string"),
    ({"protocols": "pairwise"}, "protocols", "valid tuple"),
    ({"protocols": []}, "protocols", "at least one protocol"),
    ({"context_tokens": "many"}, "context_tokens", "valid integer"),
    ({"context_tokens": 10}, "context_tokens", "greater than or equal to 256"),
    ({"decoding": {"temperature": -1}}, "decoding.temperature", "greater than or equal to 0"),
    ({"decoding": {"top_p": 0}}, "decoding.top_p", "greater than 0"),
    ({"decoding": {"top_p": 1.5}}, "decoding.top_p", "less than or equal to 1"),
    ({"decoding": {"max_tokens": 0}}, "decoding.max_tokens", "greater than or equal to 1"),
    ({"usd_per_million_prompt_tokens": -1}, "usd_per_million_prompt_tokens", "greater than or"),
    (
        {"published": [{"name": "f", "value": 1.0, "unit": "%"}]},
        "published.0.source",
        "Field required",
    ),
    ({"options": []}, "options", "valid dictionary"),
    ({"model": "x" * 300}, "model", "too long for the path"),
    ({"adapter": "a/" * 600}, "adapter", "too long for the path"),
]


@pytest.mark.parametrize(("change", "field", "said"), BAD, ids=[field for _, field, _ in BAD])
def test_a_wrong_field_is_told_with_its_place(
    tmp_path: Path, change: dict[str, Any], field: str, said: str
) -> None:
    path = written(tmp_path, {**GOOD, **change})
    with pytest.raises(DataError) as told:
        load_card(path)
    assert (str(told.value.path), told.value.field) == (path, field)
    assert said in told.value.reason


@pytest.mark.parametrize("field", GOOD)
def test_a_field_that_a_card_needs_is_missed(tmp_path: Path, field: str) -> None:
    path = written(tmp_path, {name: value for name, value in GOOD.items() if name != field})
    with pytest.raises(DataError, match="Field required") as told:
        load_card(path)
    assert told.value.field == field


@pytest.mark.parametrize("content", ["title: [", "a: b: c", "\t- x", "title: \x00"])
def test_a_file_that_is_not_yaml_is_told(tmp_path: Path, content: str) -> None:
    with pytest.raises(DataError, match=r"mine\.yaml:\d: is not YAML"):
        load_card(written(tmp_path, content))


@pytest.mark.parametrize("content", ["", "just text", "[1, 2]", "5"])
def test_yaml_that_is_no_card_is_told(tmp_path: Path, content: str) -> None:
    with pytest.raises(
        DataError, match=r"mine\.yaml: is not a judge card: expected fields such as title"
    ):
        load_card(written(tmp_path, content))


def test_a_file_that_is_not_utf_8_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_bytes("title: Müller".encode("latin1"))
    with pytest.raises(DataError, match=r"mine\.yaml:\d: is not YAML"):
        load_card(str(path))


@pytest.mark.parametrize("name", ["nothing.yaml", "nothing.yml", "folder/nothing.yaml"])
def test_a_card_that_is_not_there_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="there is no such judge card"):
        load_card(str(tmp_path / name))


def test_a_folder_is_no_card(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").mkdir()
    with pytest.raises(DataError, match=r"mine\.yaml: cannot be opened"):
        load_card(str(tmp_path / "mine.yaml"))


@pytest.mark.parametrize("max_tokens", [4096, 5000])
def test_a_completion_that_leaves_no_room_for_a_prompt_is_refused(
    tmp_path: Path, max_tokens: int
) -> None:
    path = written(tmp_path, {**GOOD, "decoding": {"max_tokens": max_tokens}})
    with pytest.raises(ConfigError, match=r"decoding\.max_tokens .* context_tokens") as told:
        load_card(path)
    assert path in str(told.value)


@pytest.mark.parametrize(
    ("field", "value", "nearest"), [("wrapper", "lama2", "llama2"), ("backend", "vlm", "vllm")]
)
def test_an_unknown_wrapper_or_backend_is_told_the_nearest(
    tmp_path: Path, field: str, value: str, nearest: str
) -> None:
    with pytest.raises(UnknownComponent, match=f"(?s)no {field} '{value}'.*{nearest}"):
        load_card(written(tmp_path, {**GOOD, field: value}))


def test_a_backend_of_somebody_elses_is_named_by_its_dotted_path(tmp_path: Path) -> None:
    assert load_card(written(tmp_path, {**GOOD, "backend": "their.engine"})).backend == (
        "their.engine"
    )
    assert load_card("their.engine:model").model == "model"


@every_card
def test_a_shipped_adapter_is_whole_small_and_of_its_base(name: str) -> None:
    card = load_card(name)
    if card.adapter is None:
        return
    pytest.importorskip("safetensors")
    folder = card.locate(card.adapter)
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 40_000_000
    adapter = read_adapter(
        folder,
        revision=card.adapter_revision,
        base_sha256=str(card.revision).removeprefix("sha256:"),
        judge=name,
    )
    assert adapter.modules
    assert adapter.base_sha256 is not None
    heads = (adapter.heads.rating, adapter.heads.comparison)
    assert [head is not None for head in heads] == [name == "embedded-1.5b"] * 2
    assert card.training_data
    protocols = [load_protocol(protocol) for protocol in card.protocols]
    assert card.prompts_sha256 == digest_prompts(card.wrapper, protocols)


PROMPT = "---\nname: {name}\nkind: single\nanswer: {{like: single}}\n---\n{{query}} {{response}}\n"


@pytest.mark.parametrize(
    "line",
    [
        "prompt: one.md",
        "prompt: one.md   # of my own",
        "prompt: 'one.md'\nnotes: größer",
        "prompt: [one.md, 'sub/two.md']  # both",
        "prompt:\n  - one.md\n  - ./sub/two.md\n",
    ],
)
def test_a_copied_card_finds_its_prompts(tmp_path: Path, line: str) -> None:
    (tmp_path / "from" / "sub").mkdir(parents=True)
    for place, name in (("one.md", "one"), ("sub/two.md", "two")):
        (tmp_path / "from" / place).write_text(PROMPT.format(name=name), encoding="utf-8")
    card, copy = tmp_path / "from" / "mine.yaml", tmp_path / "copy.yaml"
    head = "title: Größe\nbackend: openai\nmodel: m\nwrapper: none\ncontext_tokens: 4096\n"
    card.write_bytes((head + line).replace("\n", "\r\n").encode())
    copy.write_text(card_text(str(card)), encoding="utf-8")
    assert load_card(str(copy)).prompts == load_card(str(card)).prompts
    assert "# " not in line or "# " in copy.read_text(encoding="utf-8")


@every_card
def test_the_file_of_a_card_is_a_card_when_it_is_copied(name: str, tmp_path: Path) -> None:
    copy = tmp_path / "mine.yaml"
    copy.write_text(card_text(name), encoding="utf-8")
    card, own = load_card(str(copy)), load_card(name)
    for at, there in ((card.adapter, own.adapter), (card.model, own.model)):
        assert (at is None) == (there is None)
        if at is not None and there is not None and there.startswith("./"):
            assert card.locate(at) == own.locate(there).resolve()
            assert card.locate(at).exists()
    assert replace(card, name=name, folder=None, adapter=own.adapter, model=own.model) == replace(
        own, folder=None
    )


def test_what_has_no_file_has_no_text() -> None:
    with pytest.raises(UnknownComponent, match="there is no card 'hf:some-org/some-model'"):
        card_text("hf:some-org/some-model")
