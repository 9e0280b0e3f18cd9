"""Imports a folder of AlpacaEval's `annotators_config`: `configs.yaml` with the texts of prompts.

**Source:** the repository tatsu-lab/alpaca_eval, `src/alpaca_eval/evaluators_configs` and
`completion_parsers.py`. We read each answer as its parser does, but a word that is none of the
answers is unreadable and not passed on, and case counts only where two values differ by it alone.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from autoj.errors import ConfigError, DataError
from autoj.prompts.answers import Answer, Choices, JsonField, Patterns, Rule, compile_pattern
from autoj.prompts.layout import Prompt, read_text
from autoj.yaml_files import compose_text, plain_value

_FILES = ("configs.yaml", "config.yaml")
_ROLES = re.compile(
    r"<\|im_start\|>(?P<role>system|user)[ \t]*\n(?P<text>.*?)(?:<\|im_end\|>|\Z)", re.DOTALL
)
_COLUMNS = {"instruction": "{query}", "output_1": "{response_1}", "output_2": "{response_2}"}
_COLUMN = re.compile(r"\{([A-Za-z_]\w*)\}")
_PREFERENCES = {"1": "1", "2": "2", "0": "tie", "1.5": "tie"}
_DEFAULT_PARSER = "regex_parser"


def import_alpaca_eval(folder: Path, name: str | None = None) -> Prompt:
    """The prompt of one annotator of AlpacaEval.

    Args:
        folder: the annotator's folder, beside those of others whose texts it may use.
        name: the annotator, where the folder has several.

    Raises:
        DataError: the folder or a file in it cannot be read.
        ConfigError: a prompt's file cannot express the annotator.
    """
    path, configs = _configs(folder)
    if name is None and len(configs) > 1:
        named = ", ".join(configs)
        raise ConfigError(f"{path} has several annotators: {named}", hint="Choose one with --name.")
    chosen = name if name is not None else next(iter(configs))
    config = configs.get(chosen)
    if not isinstance(config, dict):
        raise DataError(f"has no annotator {chosen!r}", path=path, field=chosen)
    batch = config.get("batch_size", 1)
    if batch != 1:
        raise _not_possible(chosen, f"it asks about {batch} pairs in one prompt")
    system, user = _messages(_template(config, folder, path, chosen))
    answer, values = _answer(config, chosen)
    return Prompt(
        name=re.sub(r"[^A-Za-z0-9_-]+", "-", chosen).strip("-_")[:64] or "imported",
        kind="pairwise",
        system=None if system is None else _placed(system, chosen),
        user=_placed(user, chosen),
        answer=answer,
        values=values,
    )


def _configs(folder: Path) -> tuple[Path, dict[str, Any]]:
    path = next((folder / file for file in _FILES if (folder / file).is_file()), None)
    if path is None:
        raise DataError(
            "holds no configs.yaml" if folder.is_dir() else "there is no such folder",
            path=folder,
            hint="Name the folder of one annotator of AlpacaEval's evaluators_configs.",
        )
    loaded = _plain(compose_text(read_text(path), path), path)
    if not isinstance(loaded, dict) or not loaded:
        raise DataError("expected annotators by name", path=path)
    return path, loaded


def _plain(node: yaml.Node | None, path: Path) -> Any:
    """The values of a node, with numbers as keys in the way that they are written."""
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): _plain(value, path) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, path) for item in node.value]
    return None if node is None else plain_value(node, path)


def _template(config: Mapping[str, Any], folder: Path, path: Path, name: str) -> str:
    """The text of the annotator's prompt; its path counts from the folder above."""
    wanted = config.get("prompt_template")
    if not isinstance(wanted, str) or not wanted:
        raise DataError("expected the path of a text", path=path, field=f"{name}.prompt_template")
    if "{instruction}" in wanted:
        return wanted
    root = folder.resolve().parent
    for place in (root / wanted, folder.resolve() / wanted, folder.resolve() / Path(wanted).name):
        # A stranger's file may name any path; only those beside it are read.
        # False where a name is too long for the system, which `Path.is_file` raises for.
        if os.path.isfile(place) and place.resolve().is_relative_to(root):
            return read_text(place)
    raise DataError(
        f"there is no file {wanted!r} in {root}", path=path, field=f"{name}.prompt_template"
    )


def _messages(text: str) -> tuple[str | None, str]:
    """The system and user messages of a text in ChatML, in the old layout of Claude, or plain."""
    turns = {found["role"]: found["text"].strip() for found in _ROLES.finditer(text)}
    if "user" in turns:
        return turns.get("system") or None, turns["user"]
    bare = text.strip().removeprefix("Human:").removesuffix("Assistant:")
    return None, bare.strip()


def _placed(text: str, name: str) -> str:
    """A text with our placeholders for AlpacaEval's columns."""

    def place(found: re.Match[str]) -> str:
        if found[1] not in _COLUMNS:
            raise _not_possible(name, f"its prompt shows the column {found[0]}, which pairs lack")
        return _COLUMNS[found[1]]

    return _COLUMN.sub(place, text)


def _answer(config: Mapping[str, Any], name: str) -> tuple[Answer, tuple[tuple[str, str], ...]]:
    settings = config.get("completions_kwargs")
    if isinstance(settings, dict) and settings.get("tools"):
        raise _not_possible(name, "it answers by calling a function")
    parser = config.get("fn_completion_parser", _DEFAULT_PARSER) or _DEFAULT_PARSER
    given = config.get("completion_parser_kwargs") or {}
    if not isinstance(given, dict):
        raise _not_possible(name, "its completion_parser_kwargs are no mapping")
    steps = {parser: given}
    if parser == "pipeline_meta_parser" and isinstance(given.get("parsers_to_kwargs"), dict):
        steps = {step: its or {} for step, its in given["parsers_to_kwargs"].items()}
    match list(steps):
        case ["regex_parser"]:
            return _patterns(steps["regex_parser"], name), ()
        case ["ranking_parser"]:
            return _ranking(str(steps["ranking_parser"].get("model_1_name", "model_1"))), ()
        case ["logprob_parser"]:
            return _scored(steps["logprob_parser"], name), ()
        case ["json_parser"]:
            return _field(steps["json_parser"], name), tuple(_PREFERENCES.items())
        case ["json_parser", "replace_parser"]:
            means = steps["replace_parser"].get("replacer") or {}
            values = tuple((key, _preference(value, name)) for key, value in means.items())
            return _field(steps["json_parser"], name), values
    raise _not_possible(name, f"its answer is read by {' and '.join(map(str, steps))}")


def _patterns(given: Mapping[str, Any], name: str) -> Answer:
    wanted = given.get("outputs_to_match")
    if not isinstance(wanted, dict) or not wanted:
        raise _not_possible(name, "it has no outputs_to_match")
    rules = tuple(
        Rule(pattern=str(pattern), value=_preference(value, name))
        for value, pattern in wanted.items()
    )
    for rule in rules:
        try:
            compile_pattern(rule.pattern)
        except ValueError as error:
            raise _not_possible(name, str(error)) from None
    # AlpacaEval takes a text with several matches for none.
    return Patterns(rules=rules, which="only")


def _ranking(first_model: str) -> Answer:
    model, gap = re.escape(first_model), r"['\"]?\s*:\s*['\"]?"
    between = r"['\"]?\s*,\s*['\"]?"

    def rule(rank: str) -> Rule:
        by_model = rf"model{gap}{model}{between}rank{gap}{rank}\b"
        by_rank = rf"rank{gap}{rank}{between}model{gap}{model}['\"\s,}}]"
        return Rule(pattern=f"(?:{by_model}|{by_rank})", value=rank)

    return Patterns(rules=(rule("1"), rule("2")))


def _scored(given: Mapping[str, Any], name: str) -> Answer:
    first, tokens = given.get("numerator_token"), given.get("denominator_tokens")
    if given.get("log_prob_index", "batch") not in ("batch", 0):
        raise _not_possible(name, "it scores a token after the judge has reasoned")
    if not isinstance(first, str) or not isinstance(tokens, list) or len({first, *tokens}) != 2:
        raise _not_possible(name, "it scores other than two tokens")
    (second,) = {str(token) for token in tokens} - {first}
    return Choices(choices=((first, "1"), (second, "2")))


def _field(given: Mapping[str, Any], name: str) -> Answer:
    key = given.get("annotation_key")
    if not isinstance(key, str) or not key or "." in key:
        raise _not_possible(name, f"the field of its answer is {key!r}")
    return JsonField(path=(key,))


def _preference(value: Any, name: str) -> str:
    found = _PREFERENCES.get(f"{value:g}" if isinstance(value, int | float) else str(value))
    if found is None:
        raise _not_possible(name, f"it has an answer that means {value!r}, which is not 0, 1 or 2")
    return found


def _not_possible(name: str, reason: str) -> ConfigError:
    return ConfigError(
        f"annotator {name!r} cannot become a prompt's file: {reason}",
        hint="Start from one of ours: autoj prompts show pairwise.",
    )
