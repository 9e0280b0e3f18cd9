"""Errors of the operating system as errors of ours: what a full disk or a locked folder means."""

import errno
import shutil
from pathlib import Path

from autoj.errors import DataError, StorageFull, UserError

_ADVICE = {
    errno.ENOSPC: "Free some space, or choose a folder on another disk.",
    errno.EDQUOT: "Free some space, or choose a folder on another disk.",
    errno.ENAMETOOLONG: "Choose a shorter name: most systems allow 255 bytes between two slashes.",
    errno.EMFILE: "Raise the limit of this shell and try again: ulimit -n 4096",
    errno.ENFILE: "The whole system has too many files open: close other programs and try again.",
    errno.EACCES: "Check who may read and write it: ls -ld PATH",
    errno.EPERM: "Check who may read and write it: ls -ld PATH",
    errno.EROFS: "It is on a disk that can only be read; choose another folder.",
    errno.EIO: "The disk or the network that it is on has failed; copy it elsewhere and try again.",
    errno.ELOOP: "It is a link that leads back to itself.",
    errno.EFBIG: "The file system allows no larger file; choose a folder on another disk.",
}  # fmt: skip


def system_advice(error: OSError) -> str | None:
    """Advice on an error of the operating system; None where there is none."""
    return None if error.errno is None else _ADVICE.get(error.errno)


def is_full(error: OSError) -> bool:
    """True where an error says that a disk or a quota is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def system_error(error: OSError) -> UserError:
    """An error of the operating system that nothing else has explained, as one of ours.

    >>> system_error(OSError(errno.EMFILE, "Too many open files", "pairs.jsonl")).message
    'pairs.jsonl: Too many open files'
    """
    reason = error.strerror or str(error) or type(error).__name__
    message = reason if error.filename is None else f"{error.filename}: {reason}"
    kind = StorageFull if is_full(error) else UserError
    return kind(message, hint=system_advice(error))


# Errors of a path that cannot be written to: the user can choose another one, or raise a limit.
_NO_PLACE = {
    errno.EACCES, errno.EEXIST, errno.EFBIG, errno.EISDIR, errno.ELOOP, errno.EMFILE,
    errno.ENAMETOOLONG, errno.ENFILE, errno.ENOENT, errno.ENOTDIR, errno.EPERM, errno.EROFS,
}  # fmt: skip


# Less room than this is none: what was written in part still takes the rest.
_LITTLE_BYTES = 16 << 20


def found_no_room(error: Exception, path: Path) -> bool:
    """True where a writer of tensors met a full disk, which none of them says by an `OSError`.

    Args:
        error: of safetensors or PyTorch.
        path: a place on that disk.
    """
    if "No space left on device" in str(error):
        return True
    # PyTorch's archive only notices that it is shorter than what was written to it.
    written = any(word in str(error) for word in ("inline_container", "PytorchStreamWriter"))
    return written and shutil.disk_usage(path).free < _LITTLE_BYTES


def storage_error(error: OSError, path: Path) -> Exception:
    """`StorageFull` for a full disk, `DataError` for an unwritable path, else the error itself."""
    if is_full(error):
        return StorageFull(
            f"{path}: the disk is full",
            # True of a ledger's records as of a file that is fetched or converted as a whole.
            hint="Free some space and run the same command again: what was written whole is kept.",
        )
    if error.errno in _NO_PLACE:
        hint = system_advice(error)
        return DataError(f"cannot be written: {error.strerror}", path=path, hint=hint)
    return error
