"""Errors as problem documents (RFC 9457), which name the field that is at fault."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from autoj.errors import (
    AutojError,
    BackendError,
    DataError,
    MissingExtra,
    NoRoom,
    RateLimited,
    StorageFull,
    Unavailable,
    UnknownComponent,
    UserError,
    shortened,
)
from autoj.serve.questions import QueueFull

MEDIA_TYPE = "application/problem+json"
_LONGEST_DETAIL = 1000
TITLES = {
    400: "The request cannot be read",
    401: "An API key is needed",
    404: "Not found",
    405: "Method not allowed",
    408: "The request came too slowly",
    413: "The request is too large",
    415: "The body is not JSON",
    421: "Unknown host",
    422: "The request is invalid",
    429: "The queue is full",
    500: "The service has a defect",
    502: "The judgment failed",
    503: "The judge is not available",
    504: "The deadline passed",
}


@dataclasses.dataclass(kw_only=True, eq=False)
class Problem(Exception):
    """A request that has no answer."""

    status: int
    """The HTTP status."""
    detail: str
    field: str | None = None
    """The field of the body at fault, as `cases.3.query`."""
    errors: Sequence[Mapping[str, str]] = ()
    """All faults of a body, each with its field and message."""
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @property
    def body(self) -> bytes:
        """The document."""
        document: dict[str, Any] = {
            "type": "about:blank",
            "title": TITLES.get(self.status, "The request failed"),
            "status": self.status,
            "detail": shortened(self.detail, _LONGEST_DETAIL),
        }
        if self.field is not None:
            document["field"] = self.field
        if self.errors:
            document["errors"] = list(self.errors)
        return orjson.dumps(document)


def problem_of(error: BaseException) -> Problem:
    """The problem that an error is to a client; an error that is none of ours tells nothing."""
    match error:
        case Problem():
            return error
        case QueueFull(retry_after_seconds=seconds):
            return Problem(status=429, detail=error.message, headers={"Retry-After": str(seconds)})
        case RateLimited() | Unavailable() | StorageFull() | NoRoom():
            return Problem(status=503, detail=error.message, headers={"Retry-After": "5"})
        case BackendError():
            return Problem(status=502, detail=error.message)
        case DataError(reason=reason, field=name):
            return Problem(status=422, detail=reason, field=name)
        case UnknownComponent() | MissingExtra() | UserError():
            return Problem(status=422, detail=str(error))
        case AutojError():
            return Problem(status=502, detail=error.message)
        case TimeoutError():
            return Problem(status=504, detail="the judgment was not done within the deadline")
    return Problem(status=500, detail="an error that the service's log describes")


def invalid_fields(errors: Sequence[Mapping[str, Any]]) -> Problem:
    """The problem of a body that does not fit its model.

    Args:
        errors: as pydantic lists them.
    """
    found = [
        {
            "field": ".".join(str(part) for part in error["loc"] if part != "body") or "(body)",
            "message": shortened(str(error["msg"]), 200),
        }
        for error in errors[:20]
    ]
    first = found[0] if found else {"field": "(body)", "message": "invalid"}
    unreadable = any(error.get("type") == "json_invalid" for error in errors)
    return Problem(
        status=400 if unreadable else 422,
        detail=f"{first['field']}: {first['message']}",
        field=first["field"],
        errors=found,
    )
