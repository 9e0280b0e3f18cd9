"""The library of scenarios: the shipped ones, overlaid with a user's folder.

A folder has one YAML file per scenario (the format is in `criteria_files`), named after it. The
name of a shipped scenario changes that scenario; any other is new and needs a `description`.
Subfolders have the files to include.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from autoj.errors import DataError, UnknownComponent
from autoj.scenarios.criteria import Scenario
from autoj.scenarios.criteria_files import CriteriaFile, Fact
from autoj.scenarios.includes import SHIPPED, CriteriaReader
from autoj.scenarios.taxonomy import (
    group_of,
    plain_name,
    resolve_scenario,
    scenario_names,
)

_YAML = (".yaml", ".yml")


class Library:
    """Scenarios by name: a user's own, else the shipped ones.

    Args:
        own: the user's scenarios by name.
        aliases: other names of these.
    """

    def __init__(
        self, own: Mapping[str, Scenario] | None = None, aliases: Mapping[str, str] | None = None
    ) -> None:
        self._own = dict(own or {})
        self._aliases = dict(aliases or {})

    def names(self) -> tuple[str, ...]:
        """The shipped names in the taxonomy's order, then the user's new ones."""
        return (*scenario_names(), *(name for name in self._own if name not in scenario_names()))

    def aliases(self) -> dict[str, str]:
        """Aliases of the user's scenarios."""
        return dict(self._aliases)

    def find(self, name: str) -> Scenario:
        """Finds a scenario by a name or another spelling of it.

        Raises:
            UnknownComponent: there is none; the hint has the nearest names.

        >>> Library().find("Small talk").name
        'chitchat'
        """
        plain = plain_name(name)
        known = self._aliases.get(plain, plain)
        if known in self._own:
            return self._own[known]
        try:
            ours = resolve_scenario(known)
        except UnknownComponent:
            raise UnknownComponent("scenario", name, self.names()) from None
        return self._own.get(ours) or _shipped_scenario(ours)


@cache
def shipped_library() -> Library:
    """The shipped scenarios alone; each file is read on first use."""
    return Library()


@cache
def _shipped_scenario(name: str) -> Scenario:
    reader = CriteriaReader()
    path = SHIPPED / f"{name}.yaml"
    description = reader.read(path).description
    criteria = reader.resolve(path)
    assert description is not None
    return Scenario(
        name=name,
        group=group_of(name),
        description=description.text,
        criteria=criteria,
        path=path,
    )


def load_library(folder: Path | None = None) -> Library:
    """Loads the shipped scenarios, overlaid with those of a folder.

    Args:
        folder: a user's folder; None loads the shipped scenarios alone.

    Raises:
        DataError: the folder has errors; the first one, with the number of others.
    """
    if folder is None:
        return shipped_library()
    checked = check_folder(folder)
    if checked.faults:
        first, n_more = checked.faults[0], len(checked.faults) - 1
        others = f" and {n_more} more" if n_more else ""
        raise DataError(
            first.reason,
            path=first.path,
            line=first.line,
            field=first.field,
            hint=f"Run autoj scenarios check {folder} to list this{others}.",
        )
    return Library({scenario.name: scenario for scenario in checked.scenarios}, checked.aliases)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedScenarios:
    """A folder of scenarios with all its errors."""

    scenarios: tuple[Scenario, ...]
    """The valid scenarios."""
    aliases: Mapping[str, str]
    """Aliases of these by the files."""
    faults: tuple[DataError, ...]
    """Errors by file and line; empty for a valid folder."""
    n_files: int
    """The number of files read, included ones too."""


def check_folder(folder: Path = SHIPPED) -> CheckedScenarios:
    """Checks a whole folder of scenarios.

    Files of subfolders are read, too, so that files not yet included are also checked.

    Args:
        folder: a user's folder; default: the shipped one.

    Raises:
        DataError: there is no such folder, or no YAML file in it.
    """
    return _FolderReading(folder).read()


class _FolderReading:
    """Reads one folder and collects its scenarios and errors."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._reader = CriteriaReader()
        self._scenarios: dict[str, Scenario] = {}
        self._aliases: dict[str, str] = {}

    def read(self) -> CheckedScenarios:
        written = [self._scenario(path) for path in self._files()]
        for file, scenario in written:
            for alias in file.aliases:
                self._add_alias(file, alias, scenario)
        for path in sorted(self._folder.rglob("*")):
            if path.suffix in _YAML and not _is_hidden(path.relative_to(self._folder)):
                self._reader.resolve(path)
        return CheckedScenarios(
            scenarios=tuple(self._scenarios.values()),
            aliases=self._aliases,
            faults=self._reader.faults,
            n_files=self._reader.n_files,
        )

    def _files(self) -> Iterator[Path]:
        if not self._folder.is_dir():
            raise DataError("there is no such folder of scenarios", path=self._folder)
        found = sorted(path for path in self._folder.iterdir() if path.suffix in _YAML)
        if not found:
            raise DataError(
                "the folder has no YAML file",
                path=self._folder,
                hint="Write one file NAME.yaml per scenario; subfolders are for files to include.",
            )
        yield from (path for path in found if not _is_hidden(path.relative_to(self._folder)))

    def _scenario(self, path: Path) -> tuple[CriteriaFile, str]:
        n_faults = len(self._reader.faults)
        file = self._reader.read(path)
        criteria = self._reader.resolve(path)
        name = _name_of(path)
        description = file.description.text if file.description else _our_description(name)
        group = file.group.text if file.group else _our_group(name)
        # An error reported before may be the reason that something is missing.
        sound = len(self._reader.faults) == n_faults
        if not criteria and sound:
            self._fault(
                path,
                1,
                "the file has no criteria",
                "Include the shipped ones: basic: !include autoj:shared/basic",
            )
        if description is None and sound:
            self._fault(
                path,
                1,
                f"scenario {name!r} is not one of the shipped scenarios, so it needs a description",
                'Add a line such as description: "The user wants …"; autoj scenarios lists the '
                "shipped names.",
            )
        if name in self._scenarios:
            said = f"scenario {name!r} is already defined by {self._scenarios[name].path}"
            self._fault(path, 1, said)
        elif criteria and description is not None:
            self._scenarios[name] = Scenario(
                name=name,
                group=group,
                description=description,
                criteria=criteria,
                # The path in its criteria; it may have been included by another path before.
                path=file.path,
            )
        return file, name

    def _add_alias(self, file: CriteriaFile, alias: Fact, scenario: str) -> None:
        plain = plain_name(alias.text)
        taken = self._aliases.get(plain) or (plain if plain in self._scenarios else None)
        if taken is None:
            try:
                taken = resolve_scenario(plain)
            except UnknownComponent:
                self._aliases[plain] = scenario
                return
        if taken != scenario:
            self._fault(file.path, alias.line, f"{alias.text!r} already names scenario {taken!r}")

    def _fault(self, path: Path, line: int, message: str, hint: str | None = None) -> None:
        self._reader.report(DataError(message, path=path, line=line, hint=hint))


def _our_description(name: str) -> str | None:
    return _shipped_scenario(name).description if name in scenario_names() else None


def _our_group(name: str) -> str | None:
    return group_of(name) if name in scenario_names() else None


def _name_of(path: Path) -> str:
    """The scenario of a file: a shipped one if its name is a spelling of it, else a new one."""
    try:
        return resolve_scenario(path.stem)
    except UnknownComponent:
        return plain_name(path.stem)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)
