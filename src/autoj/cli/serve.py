"""`autoj serve`: judges over HTTP."""

from pathlib import Path
from typing import Annotated

from autoj.cli import _completion, _console, _options
from autoj.serve.server import serve as serve_judges
from autoj.serve.settings import ServiceSettings, read_key


def serve(
    judge: Annotated[
        list[str] | None,
        _options.asking(
            "--judge",
            autocompletion=_completion.judges,
            help="A judge's name (autoj judges), the path of a card, or backend:model. Repeat it "
            "for several; the first is the default.  [default: embedded]",
        ),
    ] = None,
    host: Annotated[
        str,
        _options.accepted(help="The address to listen on; beyond this machine needs an API key."),
    ] = "127.0.0.1",
    port: Annotated[int, _options.accepted(min=1, max=65535, help="The port.")] = 8000,
    api_key_file: Annotated[
        Path | None,
        _options.accepted(
            help="A file with the API key that each request must have. Default: $AUTOJ_API_KEY."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        _options.output(
            "--out", help="A folder for a ledger of each judge: no answer is asked for twice."
        ),
    ] = None,
    most_rows: Annotated[
        int, _options.accepted(min=1, help="The most cases of one request.")
    ] = 256,
    most_waiting: Annotated[
        int, _options.accepted(min=1, help="The most cases that wait for a judge; more get 429.")
    ] = 1024,
    most_body_bytes: Annotated[
        int, _options.accepted(min=1000, help="The most bytes of a request's body.")
    ] = 4_000_000,
    deadline: Annotated[
        float, _options.accepted(min=0.1, help="The most seconds of a request that names none.")
    ] = 600.0,
) -> None:
    """Serve judges over HTTP: compare, rate, select, classify, and rewards for trainers.

    Needs the extra serve. SIGTERM ends it once what was asked is answered.

    Example: autoj serve --judge embedded --port 8000
    """
    settings = ServiceSettings(
        host=host,
        port=port,
        api_key=read_key(api_key_file),
        out=out,
        most_body_bytes=most_body_bytes,
        most_rows=most_rows,
        most_waiting=most_waiting,
        deadline_seconds=deadline,
    )
    serve_judges(judge or ["embedded"], settings, _console.print_message)
