"""The report of a session on a GPU machine, from what its parts found."""

from __future__ import annotations

import platform
import statistics
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.engines import spread

MAX_BYTES = 16 * 10**6
_PACKAGES = ("torch", "transformers", "trl", "peft", "bitsandbytes", "liger-kernel", "autoj")


def machine() -> dict[str, Any]:
    """The machine in words, and the versions of what ran."""
    import torch

    found: dict[str, Any] = {"python": platform.python_version(), "gpu": None}
    if torch.cuda.is_available():
        properties = torch.cuda.get_device_properties(0)
        found |= {"gpu": properties.name, "memory_bytes": properties.total_memory}
        found |= {"cuda": torch.version.cuda}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def render(read: Mapping[str, Mapping[str, Any]], where: Mapping[str, Any], *, smoke: bool) -> str:
    """The report of a session, as Markdown.

    Args:
        read: what each part found.
        where: the machine.
        smoke: whether it was a smoke run.
    """
    lines = [f"# {where['gpu'] or 'the CPU, for want of a GPU'}", ""]
    if smoke:
        lines += ["A smoke run: tiny models on the CPU. Its figures mean nothing.", ""]
    lines += [", ".join(f"{name} {value}" for name, value in where.items()), ""]
    lines += ["| part | minutes | outcome |", "|---|---|---|"]
    for part, found in read.items():
        lines.append(f"| {part} | {found['seconds'] / 60:.1f} | {_outcome(found)} |")
    lines += ["", "Random weights; critiques and verdicts per minute, beside the roofline.", ""]
    lines += ["| model | what | per minute | roofline | share |", "|---|---|---|---|---|"]
    for part, found in read.items():
        for row in found.get("rows", ()):
            share = f"{row['bound']:,.0f} | {statistics.median(row['rates']) / row['bound']:.0%}"
            lines.append(f"| {part} | {row['title']} | {spread(row['rates'])} | {share} |")
    return "\n".join(lines) + "\n"


def _outcome(found: Mapping[str, Any]) -> str:
    for key in ("failed", "left_out"):
        if key in found:
            return f"{key.replace('_', ' ')}: {found[key]}".replace("\n", " ")
    if "closing_line" in found:
        return str(found["closing_line"])
    if "machine" in found:
        peak = found["machine"]
        bandwidth, flops = peak["bytes_per_second"] / 1e9, peak["flops"] / 1e12
        return f"{bandwidth:,.0f} GB/s, {flops:,.1f} TFLOP/s in bfloat16, measured here"
    speed = found["speed"]
    said = f"{found['steps']} updates on {', '.join(found['data'])}"
    if speed is not None:
        said += f"; {speed['tokens_per_second']:,.0f} tokens/s"
        if speed["peak_share"] is not None:
            said += f", MFU {speed['peak_share']:.1%}"
    return said


def check_size(folder: Path) -> None:
    """Checks that the results can be sent.

    Raises:
        SystemExit: they are larger than 16 MB.
    """
    n_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if n_bytes > MAX_BYTES:
        raise SystemExit(f"{folder} has {n_bytes / 1e6:.1f} MB, more than {MAX_BYTES / 1e6:.0f}")
