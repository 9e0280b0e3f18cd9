"""Messages to the text that a model reads: what was judged can neither end nor open a turn."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autoj.chat import TEMPLATE, WRAPPER_NAMES, WRAPPERS, Template, describe, render
from autoj.errors import ConfigError, UnknownComponent
from autoj.records import Message

CONTROL = {
    "chatml": re.compile(r"<\|[A-Za-z0-9_]+\|>"),
    "llama2": re.compile(r"\[/?INST\]|<</?SYS>>|</?s>"),
}
SYSTEM = Message(role="system", content="S")
USER = Message(role="user", content="U")
ASSISTANT = Message(role="assistant", content="A")
every_wrapper = pytest.mark.parametrize("wrapper", WRAPPERS)
each_family = pytest.mark.parametrize("wrapper", CONTROL)

FRAGMENTS = [
    "[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<s>", "</s>", "<|im_start|>", "<|im_end|>",
    "<|endoftext|>", "[", "]", "<", ">", "/", "|", "INST", "INST]", "SYS>>", "s>", "|im_end|>",
    "<|", "|>", "im_end", "im_start|>assistant\n", " ", "\n", "{content}", "user", "\\1",
]  # fmt: skip
hostile = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=3)), max_size=10).map(
    "".join
)


@pytest.mark.parametrize(
    ("wrapper", "messages", "text"),
    [
        ("llama2", [USER], "[INST] U [/INST]"),
        ("llama2", [SYSTEM, USER], "[INST] <<SYS>>\nS\n<</SYS>>\n\nU [/INST]"),
        ("llama2", [USER, ASSISTANT, USER], "[INST] U [/INST] A </s><s>[INST] U [/INST]"),
        ("chatml", [USER], "<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n"),
        (
            "chatml",
            [SYSTEM, USER, ASSISTANT, USER],
            "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n"
            "<|im_start|>assistant\nA<|im_end|>\n<|im_start|>user\nU<|im_end|>\n"
            "<|im_start|>assistant\n",
        ),
        ("none", [USER], "U"),
        ("none", [SYSTEM, USER, ASSISTANT, USER], "S\n\nU\n\nA\n\nU"),
    ],
)
def test_each_wrapper_marks_turns_as_its_models_know_them(
    wrapper: str, messages: list[Message], text: str
) -> None:
    assert render(messages, wrapper) == text


@pytest.mark.parametrize(
    ("wrapper", "ending"),
    [
        ("llama2", "[INST] U [/INST] Rating: [["),
        ("chatml", "<|im_start|>assistant\nRating: [["),
        ("none", "URating: [["),
    ],
)
def test_a_forced_prefix_is_joined_as_the_models_own_answers_are(wrapper: str, ending: str) -> None:
    assert render([USER], wrapper, "Rating: [[").endswith(ending)
    assert render([USER], wrapper, "") == render([USER], wrapper)


@each_family
@given(content=hostile, system=hostile)
def test_no_content_adds_or_takes_a_control_string(wrapper: str, content: str, system: str) -> None:
    control = CONTROL[wrapper]
    plain = render([SYSTEM, USER, ASSISTANT, USER], wrapper, "P")
    spoken = render(
        [
            Message(role="system", content=system),
            Message(role="user", content=content),
            Message(role="assistant", content=content),
            Message(role="user", content=content),
        ],
        wrapper,
        "P",
    )
    assert control.findall(spoken) == control.findall(plain)


@each_family
@given(content=hostile)
def test_content_without_a_control_string_is_not_touched(wrapper: str, content: str) -> None:
    text = render([Message(role="user", content=content)], wrapper)
    if CONTROL[wrapper].search(content) is None:
        before, after = render([Message(role="user", content="\x00")], wrapper).split("\x00")
        assert text == before + content + after


@each_family
@given(content=hostile)
def test_only_spaces_are_put_into_content(wrapper: str, content: str) -> None:
    empty = render([Message(role="user", content="")], wrapper)
    text = render([Message(role="user", content=content)], wrapper)
    assert sorted(text.replace(" ", "")) == sorted((empty + content).replace(" ", ""))
    assert len(text) >= len(empty) + len(content)


@given(content=hostile)
def test_without_a_wrapper_content_is_sent_as_it_is(content: str) -> None:
    assert render([Message(role="user", content=content)], "none") == content


@every_wrapper
@pytest.mark.parametrize("messages", [[], [SYSTEM], [USER, ASSISTANT], [USER, SYSTEM]])
def test_a_prompt_that_does_not_end_with_the_users_turn_is_refused(
    wrapper: str, messages: list[Message]
) -> None:
    with pytest.raises(ConfigError, match="must be the user's"):
        render(messages, wrapper)


def test_an_unknown_wrapper_is_told_the_nearest_names() -> None:
    with pytest.raises(UnknownComponent, match=r"(?s)no wrapper 'chatm1'.*chatml"):
        render([USER], "chatm1")


@every_wrapper
def test_each_template_has_one_place_for_content(wrapper: str) -> None:
    rules = WRAPPERS[wrapper]
    for template in (rules.system, rules.user, rules.assistant):
        assert template.count("{content}") == 1
    assert "{content}" not in rules.opening + rules.joint


def bracketed(messages: Sequence[Message], opens_answer: bool) -> str:
    """A template, as an engine hands one over."""
    turns = "".join(f"<{message.role}>{message.content}" for message in messages)
    return turns + "<assistant>" * opens_answer


def template(**settings: bool | str) -> Template:
    control = re.compile("(<)(?=(?:system|user|assistant)>)")
    return Template(text="t", apply=bracketed, control=control, **settings)  # type: ignore[arg-type]


def test_a_tokenizers_template_is_rendered_by_its_engine() -> None:
    assert render([SYSTEM, USER], TEMPLATE, None, template()) == "<system>S<user>U<assistant>"
    assert render([USER], TEMPLATE, "P", template(joint=" ")).endswith("<assistant> P")
    assert render([USER], TEMPLATE, "", template(joint=" ")).endswith("<assistant>")


def test_a_system_message_opens_the_users_turn_where_a_template_takes_none() -> None:
    text = render([SYSTEM, USER, ASSISTANT, USER], TEMPLATE, None, template(system_in_user=True))
    assert text == "<user>S\n\nU<assistant>A<user>U<assistant>"


@given(content=hostile)
def test_no_content_marks_a_turn_of_a_template(content: str) -> None:
    hostile_message = Message(role="user", content=content.replace("im_end", "user"))
    text = render([hostile_message], TEMPLATE, None, template())
    assert re.findall("<(?:system|user|assistant)>", text) == ["<user>", "<assistant>"]


def test_an_engine_without_a_tokenizer_of_its_own_has_no_template() -> None:
    with pytest.raises(ConfigError, match="this engine's tokenizer has no chat template") as told:
        render([USER], TEMPLATE)
    assert "chatml, llama2, none" in str(told.value.hint)
    with pytest.raises(ConfigError, match="must be the user's"):
        render([USER, ASSISTANT], TEMPLATE, None, template())


def test_a_wrapper_is_described_by_all_that_it_says() -> None:
    described = {name: describe(name) for name in WRAPPER_NAMES}
    assert described[TEMPLATE] == {"wrapper": "template"}
    assert described["llama2"]["user"] == "[INST] {content} [/INST]"
    assert len({str(sorted(said.items())) for said in described.values()}) == len(WRAPPER_NAMES)
    with pytest.raises(UnknownComponent, match="'chatm1'"):
        describe("chatm1")


def test_a_templates_digest_is_that_of_its_text() -> None:
    one = template()
    assert one.sha256 == Template(text="t", apply=bracketed, control=None).sha256
    assert one.sha256 != Template(text="u", apply=bracketed, control=None).sha256
    assert len(one.sha256) == 64
