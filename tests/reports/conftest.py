"""Draws equal charts of many pages once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from autoj.reports.html import drawing


class DrawnOnce:
    """The library that draws, which remembers what it drew."""

    def __init__(self) -> None:
        self._svgs: dict[bytes, str] = {}

    def vegalite_to_svg(self, spec: dict[str, Any]) -> str:
        key = orjson.dumps(spec, option=orjson.OPT_SORT_KEYS)
        if key not in self._svgs:
            self._svgs[key] = _real().vegalite_to_svg(spec)
        return self._svgs[key]

    def svg_to_png(self, svg: str, scale: float) -> bytes:
        png: bytes = _real().svg_to_png(svg, scale=scale)
        return png


_real = drawing._converter


@pytest.fixture(scope="session", autouse=True)
def charts_drawn_once() -> Iterator[None]:
    once = DrawnOnce()

    def converter() -> DrawnOnce:
        _real()  # where the extra is missing, it says so
        return once

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "_converter", converter)
        yield
