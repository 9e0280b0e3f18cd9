"""Prompts in files: their text and how the answer is read, and those of other tools."""

from autoj.prompts.alpaca_eval import import_alpaca_eval
from autoj.prompts.layout import Prompt, read_prompt, read_text
from autoj.prompts.prometheus import import_prometheus
from autoj.prompts.template import KNOWN, REQUIRED, Kind
from autoj.prompts.writing import write_prompt

__all__ = [
    "KNOWN",
    "REQUIRED",
    "Kind",
    "Prompt",
    "import_alpaca_eval",
    "import_prometheus",
    "read_prompt",
    "read_text",
    "write_prompt",
]
