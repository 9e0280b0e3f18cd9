"""Corrections of a word or a few in a response, and the sentence of a critique that names one."""

from autoj.corrections.base import Correction, may_be_wrong
from autoj.corrections.expected import correction, goes_on_alike
from autoj.corrections.finding import beyond_finding, said_of
from autoj.corrections.thresholds import Thresholds, read_thresholds
from autoj.corrections.words import WORD

__all__ = [
    "WORD",
    "Correction",
    "Thresholds",
    "beyond_finding",
    "correction",
    "goes_on_alike",
    "may_be_wrong",
    "read_thresholds",
    "said_of",
]
