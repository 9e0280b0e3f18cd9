"""Includes between files of criteria, resolved and merged."""

import difflib
import os.path
from collections.abc import Iterator
from pathlib import Path

from autoj.errors import DataError
from autoj.scenarios.criteria import Criterion, normalise_content
from autoj.scenarios.criteria_files import CriteriaFile, Dropped, Include, read_criteria_file

SHIPPED = Path(__file__).parent / "data" / "criteria"
"""The folder of the shipped criteria: one file per scenario, and `shared/`."""
OURS = "autoj:"
"""The prefix of paths into the shipped folder, such as `autoj:shared/writing`."""
_MOST_FILES_DEEP = 20


class CriteriaReader:
    """Reads files of criteria with their includes, each file once.

    Their errors are collected in `faults`, so that all of them can be reported together.
    """

    def __init__(self) -> None:
        self._faults: dict[str, DataError] = {}
        self._files: dict[Path, CriteriaFile] = {}
        self._resolved: dict[Path, dict[str, Criterion]] = {}
        self._circles: set[frozenset[Path]] = set()

    @property
    def faults(self) -> tuple[DataError, ...]:
        """All errors, each once, by file and line."""
        return tuple(
            sorted(self._faults.values(), key=lambda fault: (str(fault.path), fault.line or 0))
        )

    @property
    def n_files(self) -> int:
        """The number of files read."""
        return len(self._files)

    def report(self, fault: DataError) -> None:
        """Records an error."""
        self._faults.setdefault(str(fault), fault)

    def read(self, path: Path) -> CriteriaFile:
        """Reads a file without resolving its includes."""
        key = path.resolve()
        if key not in self._files:
            self._files[key] = read_criteria_file(path, self.report)
        return self._files[key]

    def resolve(self, path: Path) -> tuple[Criterion, ...]:
        """Resolves a file to its criteria, with included ones in the place of the include.

        A criterion of the file itself replaces an included one of the same name, wherever the
        include is; a name without a value removes the included one.
        """
        return tuple(self._merged(path, ()).values())

    def _merged(self, path: Path, above: tuple[Path, ...]) -> dict[str, Criterion]:
        key = path.resolve()
        if key not in self._resolved:
            self._resolved[key] = self._merge(self.read(path), (*above, path))
        return self._resolved[key]

    def _merge(self, file: CriteriaFile, chain: tuple[Path, ...]) -> dict[str, Criterion]:
        merged: dict[str, Criterion] = {}
        own = {entry.name: entry for entry in file.entries if not isinstance(entry, Include)}
        brought: set[str] = set()
        for entry in file.entries:
            if isinstance(entry, Criterion):
                merged[entry.name] = entry
            elif isinstance(entry, Include):
                for criterion in self._included(file, entry, chain):
                    brought.add(criterion.name)
                    if criterion.name not in own:
                        self._add(merged, criterion, file, entry)
        for entry in own.values():
            if isinstance(entry, Dropped) and entry.name not in brought:
                self._fault(
                    file, entry.line, f"{entry.name!r} is to be left out, but no include has it"
                )
        self._check_contents(merged)
        return merged

    def _add(
        self, merged: dict[str, Criterion], new: Criterion, file: CriteriaFile, include: Include
    ) -> None:
        known = merged.setdefault(new.name, new)
        # A file included by two ways brings in its criteria once.
        if (known.path.resolve(), known.line) != (new.path.resolve(), new.line):
            self._fault(
                file,
                include.line,
                f"{new.name!r} is included twice: from {known.path}:{known.line} and from "
                f"{new.path}:{new.line}",
                f"Define a criterion of that name in {file.path.name}, which replaces both, or "
                f"leave both out with the line {new.name}: ~",
            )

    def _check_contents(self, merged: dict[str, Criterion]) -> None:
        said: dict[str, Criterion] = {}
        for criterion in merged.values():
            first = said.setdefault(normalise_content(criterion.content), criterion)
            if first is not criterion:
                said_there = f"repeats {first.name!r} of {first.path}:{first.line}"
                self.report(
                    DataError(
                        said_there, path=criterion.path, line=criterion.line, field=criterion.name
                    )
                )

    def _included(
        self, file: CriteriaFile, include: Include, chain: tuple[Path, ...]
    ) -> Iterator[Criterion]:
        path = self._locate(file, include)
        if path is None:
            return
        if len(chain) >= _MOST_FILES_DEEP:
            said = f"includes are nested deeper than {_MOST_FILES_DEEP} files"
            self._fault(file, include.line, said)
            return
        names = [step.resolve() for step in chain]
        if path.resolve() not in names:
            yield from self._merged(path, chain).values()
            return
        circle = chain[names.index(path.resolve()) :]
        members = frozenset(step.resolve() for step in circle)
        if members not in self._circles:
            self._circles.add(members)
            steps = " -> ".join(step.name for step in (*circle, path))
            self._fault(file, include.line, f"the file includes itself: {steps}")

    def _locate(self, file: CriteriaFile, include: Include) -> Path | None:
        """Finds the file of an include; None where there is none."""
        found = (path for path in _candidates(file.path, include.target) if os.path.isfile(path))
        if (path := next(found, None)) is not None:
            return path
        if include.target.startswith(OURS):
            near = difflib.get_close_matches(include.target, _our_targets(), n=3)
            hint = f"Did you mean {', '.join(near)}?" if near else None
            said = f"autoj ships no criteria {include.target!r}"
        else:
            here = file.path.parent
            near = difflib.get_close_matches(
                include.target.removeprefix("./"), _files_near(here), n=3
            )
            hint = (
                f"Did you mean {', '.join(near)}?"
                if near
                else f"Paths to shipped criteria begin with {OURS}"
            )
            said = f"there is no file {include.target!r} relative to {here}"
        self._fault(file, include.line, said, hint)
        return None

    def _fault(self, file: CriteriaFile, line: int, message: str, hint: str | None = None) -> None:
        self.report(DataError(message, path=file.path, line=line, hint=hint))


def _candidates(path: Path, target: str) -> Iterator[Path]:
    """Yields the paths that an include may mean, the likeliest first."""
    if target.startswith(OURS):
        name = target.removeprefix(OURS)
        if ".." not in Path(name).parts and not Path(name).is_absolute():
            yield SHIPPED / name
            yield SHIPPED / f"{name}.yaml"
        return
    here = path.parent
    yield here / target
    # Includes of the original release are relative to the root of its repository.
    if target.startswith("./"):
        yield from (folder / target for folder in path.absolute().parent.parents)


def _our_targets() -> list[str]:
    return [OURS + name.removesuffix(".yaml") for name in _files_near(SHIPPED)]


def _files_near(folder: Path) -> list[str]:
    """Lists the YAML files in a folder and its subfolders, as relative paths."""
    found = (path for depth in ("*", "*/*") for path in folder.glob(depth))
    return [
        path.relative_to(folder).as_posix() for path in found if path.suffix in (".yaml", ".yml")
    ]
