"""A judge exported: its weights in another form, its card, its model card, and what it cost.

Fewer bits move verdicts. A form that rounds weights is therefore compared with the judge itself,
pair by pair, before it gets its name; one that moves too many verdicts is not kept.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import orjson
import yaml

from autoj.backends._adapters import heads_of, remove_heads
from autoj.backends._heads import Heads
from autoj.errors import ConfigError, DataError, StorageFull, UnknownComponent, UserError
from autoj.judges import load_card
from autoj.judges.cards import FOLDER_CARD, card_text
from autoj.protocols import OwnProtocol, protocols_of
from autoj.records import JudgeCard
from autoj.runs.watch import SILENT, Watch
from autoj.system_errors import is_full, storage_error
from autoj.training.judge.calibration_texts import calibration_rows
from autoj.training.judge.folder import TrainingFolder
from autoj.training.judge.forms import (
    CALIBRATED,
    LIBRARIES,
    ROUNDED,
    Format,
    Original,
    check_form,
    write_form,
)
from autoj.training.judge.model_card import render_model_card
from autoj.training.judge.moved import Moved, compare_verdicts, comparison_spec, open_pairs

MAX_MOVED = 0.05
"""The share of verdicts that an export may move."""

N_PAIRS = 200
"""The most pairs that verdicts are compared on."""

_MODEL_CARD = "README.md"
_Fitted = TypeVar("_Fitted")
# A disk with less than this left after an error is called full, whatever its library said.
_LITTLE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A judge's folder that was written."""

    out: Path
    format: Format
    n_bytes: int
    """The size of its files."""
    kept: float | None
    """Of `adapter`, the share of the squared change of the weights that it keeps, from 0 to 1."""
    moved: Moved | None
    """The verdicts that the form moved; None where it was not compared."""

    def sentence(self, rank: int) -> str:
        """Tells what was written.

        Args:
            rank: that of an adapter.
        """
        told = f"{self.format} is in {self.out} ({self.n_bytes / 1e6:,.1f} MB)"
        if self.kept is not None:
            told += f"; rank {rank} keeps {self.kept:.1%} of what training changed"
        return told if self.moved is None else f"{told}; {self.moved.sentence()}"


def export_model(
    judge: Path,
    out: Path,
    format: Format,
    *,
    rank: int = 32,
    calibration: Sequence[Path] = (),
    validation: Path | None = None,
    max_moved: float = MAX_MOVED,
    limit: int = N_PAIRS,
    watch: Watch = SILENT,
) -> Exported:
    """Writes a judge's weights in another form, with its card and its model card.

    Args:
        judge: the folder that training wrote; or the name or the path of a card whose weights can
            be had.
        out: a new folder.
        format: the form of the weights.
        rank: the rank of `adapter`.
        calibration: the judge's training files, for the forms that take calibration texts.
        validation: pairs, in any format, on which verdicts are compared with the judge's own;
            needed where weights are rounded.
        max_moved: the share of these verdicts that may move, from 0 to 1.
        limit: the most pairs; of a larger file a sample.
        watch: told of the progress.

    Returns:
        What was written. `merged`, `gguf` and `openvino` round nothing but float32 to float16. An
        adapter's heads are left out, with what was fitted to the verdicts that they move; verdicts
        are compared with those of the judge without them.

    Raises:
        DataError: `judge` is not a finished training, `out` is not empty, or a row cannot be read.
        ConfigError: the judge has no such form, a file is not one to calibrate on, or too many
            verdicts moved; nothing is left behind.
        UnknownComponent: there is no such form, or no such judge.
        MissingExtra: the form's packages are not installed.
        StorageFull: the disk is full; nothing is left behind, and nothing was overwritten.
    """
    given, out = out, out.absolute()
    if format not in LIBRARIES:
        raise UnknownComponent("format of weights", format, LIBRARIES)
    if out.is_file() or (out.exists() and any(out.iterdir())):
        raise DataError("the folder is not empty", path=given, hint="Choose a new folder.")
    original = _read_original(judge)
    _check_files(format, calibration, validation)
    check_form(original, format, compared=validation is not None)
    pairs = None
    if validation is not None:
        comparison_spec(original.card)
        pairs = open_pairs(validation, limit)
    if calibration:
        settings = dict(original.trained())
        compared = () if pairs is None else pairs[1]
        rows = calibration_rows(calibration, settings, compared, watch)
        original = replace(original, rows=tuple(rows))
    # An existing folder is complete: an export that is killed or fails leaves a draft beside it.
    draft = out.with_name(f".{out.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        made, scratch = draft / "judge", draft / "scratch"
        made.mkdir(parents=True)
        scratch.mkdir()
        if heads := heads_of(original.card):
            moved_by_heads = _moved_by(heads, original.card)
            watch.message(
                "the heads of the judge's adapter are left out, which only adapters have, and so "
                f"are the calibrations and unsure thresholds of {' and '.join(moved_by_heads)}"
            )
            original = _without_heads(original, moved_by_heads, scratch / "without-heads")
        watch.message(f"writing the weights as {format}")
        changed, kept = write_form(original, format, made, scratch, rank=rank)
        _write_card(original, made, changed, format)
        moved = None
        if pairs is not None:
            after = _checked_card(made, out.name, scratch)
            moved = compare_verdicts(original.card, after, pairs, draft / "runs", watch)
            _refuse_moved(moved, max_moved, format)
        _write_model_card(original, made, format, moved)
        n_bytes = sum(file.stat().st_size for file in made.rglob("*") if file.is_file())
        if out.exists():
            out.rmdir()
        made.rename(out)
    except Exception as error:
        if (told := _of_storage(error, draft, given)) is None:
            raise
        raise told from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return Exported(out=given, format=format, n_bytes=n_bytes, kept=kept, moved=moved)


def _read_original(judge: Path) -> Original:
    training = TrainingFolder(judge)
    if judge.is_dir() and not training.is_finished:
        raise DataError(f"is not a finished training: it has no {FOLDER_CARD}", path=judge)
    has_settings = training.has_settings
    return Original(
        card=load_card(str(judge)),
        # Paths beside the card become absolute.
        content=yaml.safe_load(card_text(str(judge))),
        settings=training.settings() if has_settings else None,
        figures=training.figures() if has_settings else {},
    )


def _moved_by(heads: Heads, card: JudgeCard) -> list[str]:
    """The protocols whose verdicts heads move; a prompt of the card's own may ask as they do."""
    moved = {"pairwise-by-rating": heads.rating, "pairwise-verdict": heads.comparison}
    shipped = [protocol for protocol, head in moved.items() if head is not None]
    return shipped + [one.name for one in protocols_of(card) if isinstance(one, OwnProtocol)]


def _without_heads(original: Original, moved: Sequence[str], folder: Path) -> Original:
    """The judge by its weights alone, which is what an export holds and is compared with."""
    shutil.copytree(original.card.locate(str(original.card.adapter)), folder)
    revision = remove_heads(folder, original.card)

    def others(by_protocol: Mapping[str, _Fitted]) -> dict[str, _Fitted]:
        """Without what was fitted to verdicts that the heads may have moved."""
        return {name: fitted for name, fitted in by_protocol.items() if name not in moved}

    fitted = {
        field: others(original.content[field])
        for field in ("calibration", "unsure")
        if field in original.content
    }
    card = replace(
        original.card,
        adapter=str(folder.absolute()),
        adapter_revision=f"sha256:{revision}",
        calibration=others(original.card.calibration),
        unsure=others(original.card.unsure),
    )
    return replace(original, card=card, content={**original.content, **fitted})


def _check_files(format: Format, calibration: Sequence[Path], validation: Path | None) -> None:
    if format in CALIBRATED and not calibration:
        raise ConfigError(
            f"{format} chooses the weights by texts, and none were given",
            hint="Name the files that the judge was trained on: --calibration FILE. w4a16 needs "
            "none.",
        )
    if calibration and format not in (*CALIBRATED, "openvino-int4"):
        raise ConfigError(f"{format} takes no calibration texts", hint="Leave out --calibration.")
    if format in ROUNDED and validation is None:
        raise ConfigError(
            f"{format} rounds the weights, and what that does to verdicts is measured on pairs, "
            "of which none were given",
            hint="Name validation pairs, never a test set: --validation FILE. Labels are not "
            "needed.",
        )


def _checked_card(made: Path, name: str, scratch: Path) -> JudgeCard:
    """The card of what was written; the embedded engine converts a GGUF file beside itself."""
    card = replace(load_card(str(made)), name=name)
    file = card.locate(card.model)
    if not file.is_file():
        return card
    place = scratch / "check"
    place.mkdir()
    (place / file.name).symlink_to(file.resolve())
    return replace(card, model=str((place / file.name).absolute()))


def _refuse_moved(moved: Moved, max_moved: float, format: Format) -> None:
    if moved.moved.value is None:
        raise ConfigError(
            f"neither the judge nor its {format} decided any pair of {moved.data}, so nothing is "
            "known of what the export does to verdicts"
        )
    if moved.moved.value > max_moved:
        raise ConfigError(
            f"{format} is not kept: {moved.sentence()}, and at most {max_moved:.1%} may",
            hint="Choose a form with more bits, more pairs to measure on, or a higher --max-moved.",
        )


def _write_card(original: Original, out: Path, changed: dict[str, Any], format: Format) -> None:
    content = dict(original.content)
    for name in ("adapter", "adapter_revision", "revision", "options"):
        content.pop(name, None)
    if format == "adapter":
        # The rank changes ratings, so a calibration of before does not hold for the new judge.
        content.pop("calibration", None)
    if prompts := content.get("prompt"):
        names = [prompts] if isinstance(prompts, str) else prompts
        content["prompt"] = [_copy_prompt(Path(name), out) for name in names]
    content |= changed
    proofread = original.card.options.get("proofread")
    if proofread is not None and content["backend"] == "embedded" and format != "adapter":
        # Of the options this alone is not about where the weights are: the same judge writes on.
        content["options"] = {**content.get("options", {}), "proofread": dict(proofread)}
    TrainingFolder(out).write_card(content)


def _copy_prompt(prompt: Path, out: Path) -> str:
    """Copies a prompt into a folder, and returns its path in the card."""
    name = prompt.name
    while (out / name).exists() or name == _MODEL_CARD:
        name = f"prompt-{name}"
    shutil.copy(prompt, out / name)
    return f"./{name}"


def _write_model_card(original: Original, out: Path, format: Format, moved: Moved | None) -> None:
    # Figures of before are those of other weights where these were rounded or approximated.
    figures = {} if format in ROUNDED or format == "adapter" else original.figures
    content = yaml.safe_load((out / FOLDER_CARD).read_text(encoding="utf-8"))
    text = render_model_card(
        content,
        original.settings,
        figures,
        library=LIBRARIES[format],
        export=None if moved is None else f"As `{format}`: {moved.sentence()}.",
    )
    (out / _MODEL_CARD).write_text(text, encoding="utf-8")
    if moved is not None:
        (out / "moved.json").write_bytes(orjson.dumps(moved.as_json(), option=orjson.OPT_INDENT_2))


def _of_storage(error: Exception, draft: Path, out: Path) -> Exception | None:
    """The error of a full or unwritable disk; None for others. Each library has its own class."""
    if isinstance(error, UserError):
        return None
    free = shutil.disk_usage(next(at for at in (draft, *draft.parents) if at.exists())).free
    full = isinstance(error, OSError) and is_full(error)
    if full or "os error 28" in str(error) or free < _LITTLE_BYTES:
        return StorageFull(
            f"{out}: the disk is full; nothing was written there",
            hint="Free some space, or choose a folder on another disk.",
        )
    return storage_error(error, out) if isinstance(error, OSError) else None
