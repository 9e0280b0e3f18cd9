"""The folder of a training: its settings, its checkpoints, and finally a judge.

```
train.json     the recipe, the data's hashes, versions; a resumed training must match them
checkpoints/   the trainer's own; incomplete ones are skipped
curve.csv      loss and figures by step; drawn in curve.png
figures.json   results on the validation file at the kept step
adapter/       or model/: the trained weights
judge.yaml     the judge's card; written last, so a folder that has one is complete
README.md      the model card
```
"""

import platform
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import orjson
import yaml
from filelock import FileLock, Timeout

from autoj.errors import DataError, RunBusy, SpecMismatch
from autoj.jsonl import sha256_of
from autoj.judges.cards import FOLDER_CARD
from autoj.system_errors import storage_error
from autoj.training.judge.recipe import Recipe

_SETTINGS = "train.json"
_STATE = "trainer_state.json"
_LOCK = "train.lock"
_FIGURES = "figures.json"
# Fields of a recipe that are only told of a training.
_TOLD = ("published", "peak_tflops")


class TrainingFolder:
    """The paths of a training's files."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints = path / "checkpoints"
        self.curve = path / "curve.csv"
        self.card = path / FOLDER_CARD

    @property
    def is_finished(self) -> bool:
        """True where the judge's card has been written."""
        return self.card.is_file()

    @property
    def has_settings(self) -> bool:
        """True where `train.json` exists."""
        return (self.path / _SETTINGS).is_file()

    def settings(self) -> dict[str, Any]:
        """Reads `train.json`."""
        loaded: dict[str, Any] = orjson.loads((self.path / _SETTINGS).read_bytes())
        return loaded

    def figures(self) -> dict[str, float]:
        """Reads the results on the validation file at the kept step; empty without such a file."""
        place = self.path / _FIGURES
        found: dict[str, float] = orjson.loads(place.read_bytes()) if place.is_file() else {}
        return found

    def write_figures(self, figures: Mapping[str, float]) -> None:
        """Writes the results on the validation file at the kept step."""
        (self.path / _FIGURES).write_bytes(orjson.dumps(dict(figures), option=orjson.OPT_INDENT_2))

    def write_card(self, content: dict[str, Any]) -> None:
        """Writes the judge's card atomically."""
        draft = self.card.with_suffix(".draft")
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(self.card)
        except OSError as error:
            raise storage_error(error, self.card) from error


def last_checkpoint(
    checkpoints: Path, n_processes: int = 1, *, sharded: bool = False
) -> Path | None:
    """Finds the newest complete checkpoint; None if there is none.

    A killed trainer leaves one without its state, which is written last; a full disk or a copy can
    truncate any file.

    Args:
        checkpoints: the folder of transformers' trainer; need not exist.
        n_processes: the processes of the launch that wrote them.
        sharded: whether FSDP or DeepSpeed wrote them, each in files of its own.
    """
    found = sorted(checkpoints.glob("checkpoint-*"), key=_step, reverse=True)
    return next((one for one in found if _is_whole(one, n_processes, sharded=sharded)), None)


def half_written(checkpoints: Path, n_processes: int = 1, *, sharded: bool = False) -> list[Path]:
    """Finds checkpoints that a killed trainer or a full disk left incomplete.

    Args:
        checkpoints: as of `last_checkpoint`, and so are the others.
        n_processes: the processes of the launch that wrote them.
        sharded: whether FSDP or DeepSpeed wrote them.
    """
    found = sorted(checkpoints.glob("checkpoint-*"), key=_step)
    return [one for one in found if not _is_whole(one, n_processes, sharded=sharded)]


def _step(folder: Path) -> int:
    number = folder.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else 0


def _is_whole(folder: Path, n_processes: int, *, sharded: bool) -> bool:
    """True where training can resume from a checkpoint.

    Raises:
        OSError: a file exists and cannot be read, which is no reason to drop the checkpoint.
    """
    try:
        state = orjson.loads((folder / _STATE).read_bytes())
    except (FileNotFoundError, ValueError):
        return False
    weights = list(folder.glob("*.safetensors"))
    # Each process has random numbers of its own.
    generators = [f"rng_state_{rank}.pth" for rank in range(n_processes)]
    archives = ["scheduler.pt", *(generators if n_processes > 1 else ["rng_state.pth"])]
    if not sharded:
        archives.append("optimizer.pt")
    return (
        isinstance(state, dict)
        and "global_step" in state
        and (sharded or bool(weights))
        and all(_is_whole_weights(path) for path in weights)
        and all(zipfile.is_zipfile(folder / name) for name in archives)
    )


def _is_whole_weights(path: Path) -> bool:
    """True where a safetensors file has the length that its header states."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt"):
            return True
    except SafetensorError:
        return False


@contextmanager
def open_folder(
    path: Path,
    recipe: Recipe,
    files: dict[str, Any],
    budget_tokens: int | None,
    base: dict[str, Any],
    n_processes: int = 1,
    *,
    sharded: bool = False,
) -> Iterator[TrainingFolder]:
    """Opens a training's folder, new or to resume; it is locked until the block ends.

    Args:
        path: the folder; created if missing.
        recipe: the settings of the training.
        files: names and hashes (`describe_files`) of the data and the validation data.
        budget_tokens: the token budget; None without one.
        base: the name and the revision of the weights that training starts from.
        n_processes: the processes of the launch; checkpoints hold the state of each.
        sharded: True where they share the weights; such checkpoints are laid out otherwise.

    Raises:
        SpecMismatch: the folder has another recipe, other data, another budget, or checkpoints of
            another number of processes.
        RunBusy: another process is writing to it.
        DataError: the folder has other content than a training.
        StorageFull: the disk is full.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(path / _LOCK)
        lock.acquire(timeout=0)
    except Timeout:
        raise RunBusy(
            f"{path} is being written by another process",
            hint="Wait for it, stop it, or choose another --out.",
        ) from None
    except OSError as error:
        raise storage_error(error, path) from error
    try:
        wanted = {
            "recipe": recipe.model_dump(mode="json"),
            "files": files,
            "budget_tokens": budget_tokens,
            "base": base,
            "n_processes": n_processes,
            "sharded": sharded,
        }
        _match_or_write(path, wanted)
        yield TrainingFolder(path)
    finally:
        lock.release()


def _match_or_write(path: Path, wanted: dict[str, Any]) -> None:
    place = path / _SETTINGS
    if place.is_file():
        try:
            found = orjson.loads(place.read_bytes())
        except ValueError:
            raise DataError("is not JSON", path=place, hint="Choose another --out.") from None
        differences = _differences(_comparable(wanted), _comparable(found))
        if not differences:
            return
        # A training that ended before its first step, as at a bad row, may restart with others.
        if _others(path):
            raise SpecMismatch(path, differences)
    elif others := _others(path):
        raise DataError(
            f"is not the folder of a training: it contains {others[0]!r}",
            path=path,
            hint="Choose another --out.",
        )
    record = {
        **wanted,
        "versions": {"autoj": version("autoj"), "python": platform.python_version()},
    }
    draft = place.with_suffix(".draft")
    try:
        draft.write_bytes(orjson.dumps(record, option=orjson.OPT_INDENT_2))
        draft.replace(place)
    except OSError as error:
        raise storage_error(error, place) from error


def _others(path: Path) -> list[str]:
    """Names the entries beside settings and lock; empty folders do not count."""
    return sorted(
        entry.name
        for entry in path.iterdir()
        if entry.name not in (_SETTINGS, _LOCK)
        and not (entry.is_dir() and not any(entry.iterdir()))
    )


def _with_later_fields(recipe: dict[str, Any]) -> dict[str, Any]:
    """A stored recipe with the fields that came after it, at the values that they stand for.

    What is only told of a training, and changes nothing of it, is left out.
    """
    whole = {
        "tf32": False, "attention": None, "packing": False, "held_out": [], "compare_together": 2,
        **recipe,
    }  # fmt: skip
    base = {"context_tokens": None, **recipe.get("base", {})}
    whole["base"] = {name: value for name, value in base.items() if name != "shape"}
    whole["update"] = {"frozen": "float32", **recipe.get("update", {})}
    whole["objectives"] = [
        {"language": None, "max_samples": None, **one} for one in recipe.get("objectives", [])
    ]
    return {name: value for name, value in whole.items() if name not in _TOLD}


def _comparable(record: dict[str, Any]) -> dict[str, Any]:
    """The settings that a resumed training must match; files by content and not by path."""
    flat: dict[str, Any] = {
        "budget_tokens": record.get("budget_tokens"),
        # Of before trainings could be shared.
        "n_processes": record.get("n_processes", 1),
        "sharded": record.get("sharded", False),
    }
    if "base" in record:
        flat["base"] = record["base"]
    for name, value in _with_later_fields(record.get("recipe", {})).items():
        flat[f"recipe.{name}"] = value
    for use, described in record.get("files", {}).items():
        flat[use] = [entry["sha256"][:16] for entry in described]
    loaded: dict[str, Any] = orjson.loads(orjson.dumps(flat))
    return loaded


def _differences(wanted: dict[str, Any], found: dict[str, Any]) -> list[str]:
    # The first trainings did not state what their base came to.
    names = {*wanted, *found} - ({"base"} - found.keys())
    return [
        f"{name}: was {found.get(name)!r}, is now {wanted.get(name)!r}"
        for name in sorted(names)
        if wanted.get(name) != found.get(name)
    ]


def describe_files(paths: Sequence[Path]) -> list[dict[str, str]]:
    """Describes files by their names and hashes.

    Raises:
        DataError: a file cannot be read.
    """
    return [{"name": path.name, "sha256": sha256_of(path)} for path in paths]
