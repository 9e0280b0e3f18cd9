"""The public API: a judge or a jury, for one case, for many, and for files."""

from autoj.api.judge import Judge
from autoj.api.jury import Jury

__all__ = ["Judge", "Jury"]
