"""Reads judge cards: shipped ones by name, a user's own by path, any model as `backend:model`."""

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from autoj import components
from autoj.calibration import STYLE_FEATURES
from autoj.chat import TEMPLATE, WRAPPER_NAMES
from autoj.corrections import read_thresholds
from autoj.errors import ConfigError, DataError, UnknownComponent
from autoj.judges.card_secrets import check_no_secrets
from autoj.prompts import read_prompt, read_text
from autoj.records import Calibration, Decoding, JudgeCard, PublishedFigure, SureThreshold
from autoj.yaml_files import STR, compose, read_fields

FOLDER_CARD = "judge.yaml"
"""The card of a judge's folder, as training writes it."""

ALIASES = {"embedded": "embedded-1.5b", "embedded-base": "embedded-1.5b-base"}
"""Other names of shipped cards: those of the embedded judge that is taken where none is named."""

# A server applies its own template to messages.
_BARE_WRAPPERS = {"hf": TEMPLATE, "vllm": TEMPLATE, "openai": "none"}

_FOLDER = Path(__file__).parent
_PATHS = ("adapter", "model", "prompt")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class _DecodingFile(_Strict):
    temperature: float = Field(0.0, ge=0)
    top_p: float = Field(1.0, gt=0, le=1)
    max_tokens: int = Field(1024, ge=1)
    repetition_penalty: float = Field(1.0, gt=0)
    seed: int = 0


class _FigureFile(_Strict):
    name: str
    value: float
    unit: str
    source: str


def _known_feature(name: str) -> str:
    if name not in STYLE_FEATURES:
        raise ValueError(f"unknown style feature {name!r}; expected {', '.join(STYLE_FEATURES)}")
    return name


class _CalibrationFile(_Strict):
    temperature: float = Field(gt=0)
    tie: float = Field(ge=0)
    surface: dict[Annotated[str, AfterValidator(_known_feature)], float] = {}
    fitted_on: str | None = None


class _SureThresholdFile(_Strict):
    below: float = Field(ge=0, le=1)
    right: float | None = Field(None, gt=0, lt=1)
    n: int | None = Field(None, ge=1)
    fitted_on: str | None = None


def _proofreads_right(options: dict[str, Any]) -> dict[str, Any]:
    if "proofread" in options:
        read_thresholds(options["proofread"])
    return options


def _as_list(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


def _fits_a_path(place: str) -> str:
    if len(place) > 1000 or any(len(part.encode()) > 255 for part in place.split("/")):
        raise ValueError("too long for the path of a file or the name of a model")
    return place


_Place: TypeAlias = Annotated[str, AfterValidator(_fits_a_path)]


class _CardFile(_Strict):
    """The layout of a card on disk; every field is documented at `records.JudgeCard`."""

    title: str
    backend: str
    model: _Place
    revision: str | None = None
    adapter: _Place | None = None
    adapter_revision: str | None = None
    wrapper: str
    protocols: tuple[str, ...] = ()
    prompt: Annotated[tuple[str, ...], BeforeValidator(_as_list), Field(max_length=20)] = ()
    critique: bool = False
    calibration: dict[str, _CalibrationFile] = {}
    unsure: dict[str, _SureThresholdFile] = {}
    context_tokens: int = Field(ge=256)
    languages: tuple[str, ...] = ("en",)
    decoding: _DecodingFile = Field(default_factory=lambda: _DecodingFile.model_validate({}))
    licence: str | None = None
    prompts_sha256: str | None = None
    training_data: tuple[str, ...] = ()
    usd_per_million_prompt_tokens: float | None = Field(None, ge=0)
    usd_per_million_completion_tokens: float | None = Field(None, ge=0)
    published: tuple[_FigureFile, ...] = ()
    notes: str | None = None
    options: Annotated[dict[str, Any], AfterValidator(_proofreads_right)] = {}


@cache
def judge_names() -> tuple[str, ...]:
    """The names of the shipped cards, sorted."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.yaml")))


def load_card(name: str) -> JudgeCard:
    """Loads a judge's card.

    Args:
        name: a shipped card's name or an alias of it, the path of a card of your own (`….yaml`), a
            folder that holds a `judge.yaml`, as training writes it, or `backend:model`, such as
            `vllm:my-org/my-judge`, for a model without one.

    Raises:
        UnknownComponent: there is no such judge or backend.
        DataError: the file is missing or is not a card, or holds a key.
        ConfigError: a field has an invalid value.
    """
    path = _card_file(name)
    if path is not None:
        card = _read_card(path)
        # "." has a name, too.
        is_folder = path.name == FOLDER_CARD and not name.endswith((".yaml", ".yml"))
        return replace(card, name=Path(name).resolve().name) if is_folder else card
    backend, colon, model = name.partition(":")
    if colon and model:
        return _bare_card(name, backend, model)
    raise UnknownComponent("judge", name, (*ALIASES, *judge_names()))


def card_text(name: str) -> str:
    """The text of a judge's card, to be copied and changed; relative paths in it become absolute.

    Args:
        name: as for `load_card`, except `backend:model`, which has no file.

    Raises:
        UnknownComponent: no card of this name is in a file.
        DataError: the file is missing or is not a card.
    """
    path = _card_file(name)
    if path is None:
        raise UnknownComponent("card", name, (*ALIASES, *judge_names()))
    _read_card(path)
    text = path.read_bytes().decode("utf-8-sig")
    for node in sorted(_places_beside(path), key=lambda node: -int(node.start_mark.index)):
        whole = path.parent.resolve() / node.value
        # A string of JSON is one of YAML, whatever characters the path has.
        before, after = text[: node.start_mark.index], text[node.end_mark.index :]
        text = before + json.dumps(str(whole)) + after
    return text.replace("\r\n", "\n")


def _places_beside(path: Path) -> Iterator[yaml.ScalarNode]:
    """The values of a card that are paths relative to it."""
    root = compose(path)
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        if key.value not in _PATHS:
            continue
        for node in value.value if isinstance(value, yaml.SequenceNode) else [value]:
            # A bare name is a model of the Hub; a prompt is always a file.
            is_path = key.value == "prompt" or str(node.value).startswith("./")
            if is_path and isinstance(node, yaml.ScalarNode) and node.tag == STR:
                yield node


def _card_file(name: str) -> Path | None:
    """The file of a card; None where the name does not belong to a file."""
    shipped = ALIASES.get(name, name)
    if shipped in judge_names():
        return _FOLDER / f"{shipped}.yaml"
    if name.endswith((".yaml", ".yml")):
        return Path(name)
    inside = Path(name) / FOLDER_CARD
    return inside if inside.is_file() else None


def _known_backends() -> tuple[str, ...]:
    return tuple(sorted(components.names("backends")))


def _bare_card(name: str, backend: str, model: str) -> JudgeCard:
    if not components.is_known("backends", backend):
        raise UnknownComponent("backend", backend, _known_backends())
    # A foreign model was not trained on our prompts: it gets the prompts that the paper gives to
    # such judges (Tables 13 and 14). The embedded engine is ours and keeps its own card's prompts,
    # without the adapter, which belongs to other weights.
    if backend == "embedded":
        base = load_card("embedded-small-base")
        return replace(base, name=name, title=model, model=model, revision=None)
    if backend == "scalar":
        # A reward model generates no text; one token is the least that `max_tokens` can be.
        return JudgeCard(
            name=name,
            title=model,
            backend=backend,
            model=model,
            wrapper="none",
            protocols=("scalar",),
            decoding=Decoding(max_tokens=1),
        )
    return JudgeCard(
        name=name,
        title=model,
        backend=backend,
        model=model,
        # Only the model's tokenizer knows its chat format; where it has none, loading says so.
        wrapper=_BARE_WRAPPERS.get(backend, "chatml"),
        protocols=("baseline-pairwise", "baseline-single"),
    )


def _read_card(path: Path) -> JudgeCard:
    card = read_fields(path, _CardFile, what="judge card")
    check_no_secrets(card.options, path)
    if card.wrapper not in WRAPPER_NAMES:
        raise UnknownComponent("wrapper", card.wrapper, WRAPPER_NAMES)
    if not components.is_known("backends", card.backend):
        raise UnknownComponent("backend", card.backend, _known_backends())
    if not card.protocols and not card.prompt:
        raise DataError(
            "Field required: at least one protocol, or a prompt of your own",
            path=path,
            field="protocols",
        )
    if card.decoding.max_tokens >= card.context_tokens:
        raise ConfigError(
            f"{path}: decoding.max_tokens ({card.decoding.max_tokens}) leaves no room for a prompt "
            f"in context_tokens ({card.context_tokens})"
        )
    _check_proofreading(card, path)
    fields = dict(card)
    fields["prompts"] = tuple(_prompt(path, name) for name in fields.pop("prompt"))
    fields["decoding"] = Decoding(**dict(card.decoding))
    fields["published"] = tuple(PublishedFigure(**dict(figure)) for figure in card.published)
    fields["calibration"] = {
        protocol: Calibration(**dict(fitted)) for protocol, fitted in card.calibration.items()
    }
    fields["unsure"] = {
        protocol: SureThreshold(**dict(fitted)) for protocol, fitted in card.unsure.items()
    }
    return JudgeCard(name=path.stem, folder=str(path.parent), **fields)


def _check_proofreading(card: _CardFile, path: Path) -> None:
    """Refuses a card that proofreads by a protocol that its judge was not made for."""
    if "proofread" not in card.options:
        return
    thresholds = read_thresholds(card.options["proofread"])
    if thresholds.preferred is not None and "pairwise-verdict" not in card.protocols:
        said = "preferred needs protocol pairwise-verdict among the card's own"
        raise DataError(said, path=path, field="options.proofread")


def _prompt(card: Path, name: str) -> str:
    """The text of a card's own prompt, which is checked; its path is relative to the card."""
    place = card.parent / name
    text = read_text(place)
    read_prompt(text, place)
    return text
