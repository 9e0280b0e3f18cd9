"""The shipped protocols in the form of a prompt's file, for users to start from."""

from autoj.errors import ConfigError
from autoj.prompts import KNOWN, Prompt, write_prompt
from autoj.prompts.answers import Like
from autoj.prompts.template import Kind, literal
from autoj.protocols.base import JudgeProtocol, load_text
from autoj.scenarios import message_frame

_SYSTEM = {"baseline-pairwise", "baseline-single"}
_CRITERIA = {"pairwise-criteria", "single-criteria"}
_TEXTS = {
    **{f"{name}{verdict}{zh}": f"{name}{zh.replace('-', '.') or '.en'}.txt"
       for name in ("pairwise", "single") for verdict in ("", "-verdict") for zh in ("", "-zh")},
    **{name: f"{name.replace('-', '_')}.en.txt"
       for name in (*_SYSTEM, *_CRITERIA, "pairwise-reference", "single-reference", "steamshp")},
}  # fmt: skip
NOT_SHOWN = {
    "critique-comparison": "it compares two critiques, and a prompt's file is about responses",
    "critique-comparison-zh": "it compares two critiques, and a prompt's file is about responses",
    "pairwise-by-rating": "it rates each response alone, by the prompt of single-verdict",
    "pairwise-by-rating-zh": "it rates each response alone, by the prompt of single-verdict-zh",
    "pairwise-criteria-reasoning": "exam questions have another text than other queries",
    "single-criteria-reasoning": "exam questions have another text than other queries",
    "single-criteria-each": "its answer is read by the names of the scenario's criteria",
    "single-critique": "it writes a critique and no rating, which a later request adds",
    "single-critique-criteria": "it writes a critique and no rating, which a later request adds",
    "single-merge": "it joins two critiques, which a prompt's file has no place for",
    **{f"{name}{zh}": "it translates a text, and a prompt's file is about judging"
       for name in ("translate", "translate-judgment") for zh in ("", "-zh")},
    "pandalm": "a row with an input has another text than one without",
    "selfee": "a row with an input has another text than one without",
    "scalar": "a reward model has no prompt",
    "scenario": "it asks about the query alone",
    "scenario-menu": "it asks about the query alone",
    "scenario-seeds": "it writes queries, and judges nothing",
}  # fmt: skip
"""The protocols that a prompt's file cannot express, each with the reason."""


_NOTES = {
    "pairwise": (
        "  pattern: 'Verdict: ([12]|tie)'    a regular expression (RE2); its last match counts",
        "  field: verdict.winner            a field of the last JSON object in the answer",
        '  choices: {" 1": 1, " 2": 2}      scored, where the engine can; prefix: opens the answer',
        "and, where a pattern or a field gives other words than 1, 2 and tie:",
        "  values: {A: 1, B: 2, C: tie}",
    ),
    "single": (
        "  pattern: 'Score: ([1-5])'         a regular expression (RE2); its last match counts",
        "  field: verdict.score             a field of the last JSON object in the answer",
        '  choices: {" 1": 1, " 2": 2}      scored, where the engine can; prefix: opens the answer',
        "and, where ratings are not from 1 to 10:",
        "  scale: [1, 5]                    shown as 1 to 10: 1 + 9 * (rating - 1) / (5 - 1)",
        "  values: {poor: 1, good: 5}       where a pattern or a field gives words",
    ),
}


def file_of(protocol: JudgeProtocol) -> str:
    """A shipped protocol as the text of a prompt's file, with notes on how to change it.

    Raises:
        ConfigError: a prompt's file cannot express it.
    """
    prompt = prompt_of(protocol)
    opening = (
        f"The answer is read as that of autoj's protocol {protocol.name}. In place of `like`, say",
        "yourself how it is read, in one of these ways:",
    )
    shown = ", ".join(f"{{{name}}}" for name in KNOWN[prompt.kind])
    return write_prompt(prompt, (*opening, *_NOTES[prompt.kind], f"The text may show {shown}."))


def prompt_of(protocol: JudgeProtocol) -> Prompt:
    """A shipped protocol as the prompt of a file, under a name of one's own.

    Raises:
        ConfigError: a prompt's file cannot express it.
    """
    name = protocol.name
    if name not in _TEXTS:
        reason = NOT_SHOWN.get(name, "it is not one of autoj's own")
        raise ConfigError(f"protocol {name!r} cannot be written as a prompt's file: {reason}")
    kind: Kind = "pairwise" if protocol.subject == "pair" else "single"
    system = None
    if name in _SYSTEM:
        system = literal(load_text(_TEXTS[name].replace(".en.txt", ".system.en.txt")))
    elif name in _CRITERIA:
        system = message_frame().replace("{description}", "{scenario}")
    return Prompt(
        name=f"my-{name}",
        kind=kind,
        language=protocol.language,
        system=system,
        user=load_text(_TEXTS[name]),
        answer=Like(protocol=name),
    )
