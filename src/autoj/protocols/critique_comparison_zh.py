"""`critique-comparison-zh`: which of two critiques is better, in Chinese."""

from autoj.protocols.critique_comparison import CritiqueComparison

__all__ = ["PROTOCOL"]

PROTOCOL = CritiqueComparison(name="critique-comparison-zh", language="zh")
