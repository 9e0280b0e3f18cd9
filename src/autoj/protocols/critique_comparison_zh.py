"""`critique-comparison-zh`: the better of two critiques, in Chinese."""

from autoj.protocols.critique_comparison import CritiqueComparison

__all__ = ["PROTOCOL"]

PROTOCOL = CritiqueComparison(name="critique-comparison-zh", language="zh")
