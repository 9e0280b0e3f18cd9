"""The folder of a run: its settings, its cases, and everything derived from them.

```
run.json         its kind, the settings, the data's hash, the versions, and a digest of each file
cases.jsonl      the cases, so that the run can be shown without its input. Those of a shard have
                 their position among the cases of all shards
bad_rows.jsonl   rows that could not be read, with --skip-bad-rows
plan.jsonl       the questions about each case: (case, shown, sample, judge) -> key
follow.jsonl     the same for critiques that were asked for after the verdict
ledger.jsonl     the answers, one line per key, each with its checksum
failures.jsonl   failed attempts, likewise
timings.jsonl    one line per session; outside any comparison
verdicts.jsonl   one line per case, in the order of the cases
```
All but the ledger and the failures can be rebuilt from them and the data.

A file is compared with its digest before it is read. The digests of what a session may rewrite are
taken out when it starts and noted when it ends, so a killed run has none that are wrong.

A run is shown with the settings in its `run.json`, including the judge's calibration there. A
card's calibration may change and the run still be resumed: the resuming command writes its own
into `run.json` and resolves all verdicts again, with new critiques where a winner has changed. So
with a prompt of the user's own, where only the way in which answers are read has changed.
"""

import logging
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from autoj import jsonl
from autoj.errors import DataError, SpecMismatch
from autoj.records import (
    Asked,
    BudgetedVerdict,
    Case,
    CaseOutline,
    MarkedVerdict,
    ScoredCompletion,
    Verdict,
)
from autoj.runs import files
from autoj.runs.settings import read_settings, read_spec, write_settings
from autoj.runs.spec import RunSpec

_log = logging.getLogger(__name__)

_AnyCase = TypeVar("_AnyCase", Case, CaseOutline)
_Row = TypeVar("_Row")


class RunFolder:
    """Reads and writes the files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._compared: set[str] = set()
        self.grown_from: int | None = None
        """The number of its cases before it was opened with more; None where it has not grown."""

    @classmethod
    def existing(cls, path: Path) -> "RunFolder":
        """Opens an existing run.

        Raises:
            DataError: the path is not a run folder.
        """
        if not (path / "run.json").is_file():
            raise DataError("is not a run folder: it has no run.json", path=path)
        return cls(path)

    def settings(self) -> dict[str, Any]:
        """The content of `run.json`."""
        return read_settings(self.path)

    def bind_template(self, sha256: str | None) -> None:
        """Records the chat template of the judge's prompts, or checks that it is the recorded one.

        Only the engine knows it, so it is not among the settings that a run is opened with.

        Args:
            sha256: the digest of the tokenizer's template; None with another wrapper.

        Raises:
            SpecMismatch: the run was started with another template.
        """
        record = self.settings()
        noted = record.get("template_sha256")
        if sha256 is None or noted == sha256:
            return
        if noted is not None:
            raise SpecMismatch(self.path, [f"template_sha256: was {noted!r}, is now {sha256!r}"])
        write_settings(self.path, {**record, "template_sha256": sha256})

    def spec(self) -> RunSpec:
        """The settings that it was made with."""
        return read_spec(self.path)

    def note_digests(self, *names: str) -> None:
        """Records the digests of files as they are now; a missing file gets none."""
        found = {name: files.FileDigest.of(self.path / name) for name in names}
        self._record_digests(found)

    def forget_digests(self, *names: str) -> None:
        """Takes the digests of files out of `run.json`, before they are rewritten."""
        self._record_digests(dict.fromkeys(names))

    def _record_digests(self, digests: dict[str, files.FileDigest | None]) -> None:
        record = self.settings()
        changed = files.with_digests(record, digests)
        if changed != record:
            write_settings(self.path, changed)

    def compare(self, name: str) -> None:
        """Compares a file with its digest, once; a folder of version 0.1 has none.

        Raises:
            DataError: the file is missing, or its content is not what was written.
        """
        if name in self._compared:
            return
        digest = files.digests_of(self.path).get(name)
        state = files.state_of(self.path / name, digest)
        if digest is not None and state != "whole":
            raise jsonl.damaged(
                self.path / name, None, files.describe(state, self.path / name, digest)
            )
        self._compared.add(name)

    def damage(self, name: str, what: str) -> DataError:
        """The error of a damaged file."""
        return jsonl.damaged(self.path / name, None, what)

    def rows(self, name: str, kind: type[_Row]) -> Iterator[_Row]:
        """The rows of one of its files, lazily, after comparing the file with its digest.

        Raises:
            DataError: the file or one of its lines is damaged.
        """
        self.compare(name)
        yield from jsonl.read_records(self.path / name, kind)

    def cases(self) -> Iterator[Case]:
        """The cases, in order, lazily."""
        return self._distinct(self.rows(files.CASES, Case))

    def _distinct(self, cases: Iterator[_AnyCase]) -> Iterator[_AnyCase]:
        """The cases, each once; a file that is as its digest says needs no look at the ids."""
        if files.CASES in files.digests_of(self.path):
            yield from cases
            return
        seen: set[int] = set()
        for number, case in enumerate(cases, start=1):
            if (mark := hash(case.id)) in seen:
                raise jsonl.damaged(
                    self.path / files.CASES, number, f"case {case.id!r} is there twice"
                )
            seen.add(mark)
            yield case

    def n_cases(self) -> int:
        """The number of cases."""
        return jsonl.count_lines(self.path / files.CASES)

    def plan(self) -> Iterator[Asked]:
        """The first questions, in the order of the cases."""
        return self.rows(files.PLAN, Asked)

    def follow(self) -> Iterator[Asked]:
        """The questions asked after the verdicts, in the order of the cases."""
        return self.rows(files.FOLLOW, Asked)

    def verdicts(self) -> Iterator[Verdict]:
        """The verdicts last written."""
        return self.rows(files.VERDICTS, self._verdict_kind())

    def _verdict_kind(self) -> type[Verdict]:
        """The kind of its verdicts: they say more where the settings ask for it."""
        # A folder may have lost its settings and keep its verdicts.
        with suppress(DataError):
            spec = self.settings()["spec"]
            if spec.get("second_order") is not None:
                return BudgetedVerdict
            if spec.get("protocol") in (spec["judge"].get("unsure") or {}):
                return MarkedVerdict
        return Verdict

    def judged(self) -> Iterator[tuple[Case, Verdict]]:
        """The cases with the verdicts last written; cases without a verdict are left out."""
        return self._with_verdicts(Case)

    def outlined(self) -> Iterator[tuple[CaseOutline, Verdict]]:
        """Reads the cases without their texts, in half the time; else like `judged`."""
        return self._with_verdicts(CaseOutline)

    def _with_verdicts(self, kind: type[_AnyCase]) -> Iterator[tuple[_AnyCase, Verdict]]:
        verdicts = self.verdicts()
        verdict = next(verdicts, None)
        for case in self._distinct(self.rows(files.CASES, kind)):
            if verdict is not None and verdict.case_id == case.id:
                yield case, verdict
                verdict = next(verdicts, None)
        if verdict is not None:
            raise jsonl.damaged(
                self.path / files.VERDICTS,
                None,
                f"its verdict on case {verdict.case_id!r} does not follow the cases",
            )

    def write_verdicts(self, verdicts: Iterable[Verdict]) -> None:
        """Replaces the verdicts, atomically; keeps earlier ones that were more."""
        self.replace_rows(files.VERDICTS, verdicts)

    def replace_rows(self, name: str, rows: Iterable[Any]) -> None:
        """Replaces a file that is derived from others, atomically, and notes its digest.

        A file with more rows is kept as `NAME.earlier`, and a warning says so.
        """
        path, n_before = self.path / name, jsonl.count_lines(self.path / name)
        draft = path.with_name(name + ".new")
        n_rows = jsonl.write_records(draft, rows)
        self.forget_digests(name)
        if n_rows < n_before:
            earlier = path.with_name(name + ".earlier")
            path.replace(earlier)
            _log.warning(
                "%s had %d rows and has %d now; the earlier file is kept as %s",
                path, n_before, n_rows, earlier.name,
            )  # fmt: skip
        draft.replace(path)
        self._compared.discard(name)
        self.note_digests(name)

    def record_cost(self, usd: float) -> None:
        """Records in `run.json` what all answers of the run cost, in US dollars."""
        record = self.settings()
        if record.get("cost_usd") != usd:
            write_settings(self.path, {**record, "cost_usd": usd})

    def record_scored_by(self) -> None:
        """Records in `run.json` how often a server has scored choices in which way, if one has."""
        path = self.path / files.LEDGER
        if not any(b'"scored_by":"' in line for line in jsonl.whole_lines(path)):
            return
        answers = jsonl.read_records(path, ScoredCompletion)
        counts = Counter(each.scored_by for each in answers if each.scored_by is not None)
        record = self.settings()
        if record.get("scored_by") != counts:
            write_settings(self.path, {**record, "scored_by": dict(sorted(counts.items()))})

    def add_timing(self, record: dict[str, Any]) -> None:
        """Records the counts and the time of a session that ends now."""
        appender = jsonl.Appender(self.path / files.TIMINGS)
        appender.append({"ended": time.strftime("%Y-%m-%dT%H:%M:%S%z"), **record})
        appender.close()

    def timings(self) -> tuple[int, float]:
        """The answers of all sessions that ended in order, and their seconds."""
        n_answered, seconds = 0, 0.0
        for line in jsonl.whole_lines(self.path / files.TIMINGS):
            # Outside any comparison, and so of use only where it can be read.
            with suppress(ValueError, TypeError, KeyError):
                record = jsonl.decode(line)
                n_answered += int(record["n_answered"])
                seconds += float(record["seconds"])
        return n_answered, seconds
