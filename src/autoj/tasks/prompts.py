"""The text of a prompt that is not ours: of a user's file, or of the run that keeps it."""

from pathlib import Path

from autoj.errors import ConfigError
from autoj.prompts import read_text
from autoj.protocols import file_of, protocol_from
from autoj.runs import RunFolder
from autoj.system_errors import storage_error


def text_of(name: str) -> str | None:
    """The text of a prompt's file, or of the prompt that a run was made with; None of other names.

    Args:
        name: the path of a file or of a run's folder, or the name of a protocol.

    Raises:
        DataError: the file is no prompt, or the folder no run.
        ConfigError: the run's protocol cannot be written as a file.
    """
    path = Path(name)
    if path.is_dir():
        spec = RunFolder.existing(path).spec()
        return file_of(spec.plain_protocol) if spec.prompt is None else spec.prompt
    if not path.is_file():
        return None
    text = read_text(path)
    protocol_from(text, path)
    return text


def save_text(text: str, path: Path) -> None:
    """Writes a prompt to a new file.

    Raises:
        ConfigError: there is a file of that name.
        DataError: the file cannot be written.
        StorageFull: the disk is full.
    """
    if path.exists():
        raise ConfigError(
            f"--out {path} is there already", hint="Choose another name, or remove it."
        )
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise storage_error(error, path) from None
