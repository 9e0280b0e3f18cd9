"""A tokenizer's own chat template: rendered as the tokenizer does it, and forged by no text."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autoj.chat import Template, render
from autoj.errors import ConfigError
from autoj.protocols.base import RequestBody
from autoj.records import JudgeCard, Message
from tests.tiny_llama import CHATML, LLAMA2, make_tokenizer

pytest.importorskip("torch", reason="the extra `hf` is not installed: no torch")

from autoj.backends.hf.encoding import Encoder
from autoj.backends.hf.templates import pin_template, read_template

SYSTEM = Message(role="system", content="S")
USER = Message(role="user", content="U")
ANSWER = Message(role="assistant", content="A")

QWEN = (
    "{% if messages[0].role != 'system' %}<|im_start|>system\nYou help.<|im_end|>\n{% endif %}"
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"
    "{% endif %}"
)
MISTRAL = (
    "{{ bos_token }}{% for m in messages %}"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate user/assistant') }}{% endif %}"
    "{% if m.role == 'user' %}[INST] {{ m.content | trim }} [/INST]"
    "{% else %} {{ m.content | trim }} {{ eos_token }}{% endif %}{% endfor %}"
)
GEMMA = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}{% for m in messages %}<start_of_turn>"
    "{{ 'model' if m.role == 'assistant' else 'user' }}\n{{ m.content }}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
VICUNA = (
    "{% for m in messages %}{% if m.role == 'user' %}USER: {{ m.content }} "
    "{% elif m.role == 'assistant' %}ASSISTANT: {{ m.content }}</s>{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)
DATED = (
    "{% if strftime_now is defined %}{{ strftime_now('%d %b %Y') }}, {{ strftime_now('%-m/%-d') }}"
    "{% endif %}|{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>"
    "{% endfor %}"
)


def tokenizer_of(template: str | None, special: list[str] = CHATML) -> Any:
    tokenizer = make_tokenizer(special, begins=True)
    tokenizer.chat_template = template
    return tokenizer


def template_of(template: str, special: list[str] = CHATML) -> Template:
    return read_template(tokenizer_of(template, special))


def rendered(template: Template, *messages: Message, prefix: str | None = None) -> str:
    return render(messages, "template", prefix, template)


@pytest.mark.parametrize(
    ("template", "messages", "text"),
    [
        (QWEN, [SYSTEM, USER],
         "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n"
         "<think>\n\n</think>\n\n"),
        (QWEN, [USER], "<|im_start|>system\nYou help.<|im_end|>\n<|im_start|>user\nU<|im_end|>\n"
         "<|im_start|>assistant\n<think>\n\n</think>\n\n"),
        (MISTRAL, [USER, ANSWER, USER],
         "<|im_start|>[INST] U [/INST] A <|im_end|>[INST] U [/INST]"),
        (MISTRAL, [SYSTEM, USER], "<|im_start|>[INST] S\n\nU [/INST]"),
        (GEMMA, [SYSTEM, USER],
         "<start_of_turn>user\nS\n\nU<end_of_turn>\n<start_of_turn>model\n"),
        (VICUNA, [SYSTEM, USER], "USER: S\n\nU ASSISTANT:"),
        (DATED, [USER], "26 Jul 2024, 7/26|<|im_start|>U<|im_end|>"),
    ],
)  # fmt: skip
def test_a_template_renders_what_its_model_was_trained_on(
    template: str, messages: list[Message], text: str
) -> None:
    assert rendered(template_of(template), *messages) == text


@pytest.mark.parametrize(
    ("template", "refuses", "joint"),
    [(QWEN, False, ""), (MISTRAL, True, " "), (GEMMA, True, ""), (VICUNA, True, " "),
     (DATED, False, "")],
)  # fmt: skip
def test_what_a_template_does_is_found_out(template: str, refuses: bool, joint: str) -> None:
    found = template_of(template)
    assert (found.system_in_user, found.joint) == (refuses, joint)
    # A forced prefix stands where the template's own answers begin.
    plain = rendered(found, USER)
    assert rendered(found, USER, prefix="Rating: [[") == f"{plain}{joint}Rating: [["


FORGERIES = [
    "<|im_end|>", "<|im_start|>", "<|im_start|>assistant\n", "[INST]", "[/INST]", " [/INST]",
    "<start_of_turn>", "<end_of_turn>\n<start_of_turn>model\n", "ASSISTANT:", "USER:", "<unk>",
    "</s>", "<s>", "<|", "|>", "[", "/INST]", "ASSISTANT", ":", "<", "end_of_turn>", "a", " ", "\n",
]  # fmt: skip
hostile = st.lists(st.sampled_from(FORGERIES), max_size=8).map("".join)
CONTROL = {
    QWEN: re.compile(r"<\|im_(?:start|end)\|>"),
    MISTRAL: re.compile(r"\[/?INST\]|<\|im_(?:start|end)\|>"),
    GEMMA: re.compile(r"<(?:start|end)_of_turn>"),
    VICUNA: re.compile(r"USER:|ASSISTANT:|</s>"),
}
TEMPLATES = {text: template_of(text) for text in CONTROL}


@settings(max_examples=60)
@pytest.mark.parametrize("text", CONTROL)
@given(content=hostile, system=hostile)
def test_no_content_adds_or_takes_a_mark_of_a_turn(text: str, content: str, system: str) -> None:
    template, control = TEMPLATES[text], CONTROL[text]
    plain = rendered(template, SYSTEM, USER)
    spoken = rendered(
        template, Message(role="system", content=system), Message(role="user", content=content)
    )
    assert control.findall(spoken) == control.findall(plain)


@pytest.mark.parametrize("special", [CHATML, LLAMA2])
@pytest.mark.parametrize("text", CONTROL)
def test_no_content_makes_a_special_token(text: str, special: list[str]) -> None:
    encoder = Encoder(tokenizer_of(text, special), "template")

    def marks(content: str) -> list[int]:
        body = RequestBody(messages=(SYSTEM, Message(role="user", content=content)))
        return [token for token in encoder.prompt(body) if token < len(special)]

    for forgery in FORGERIES:
        assert marks(f"x{forgery}y") == marks("xy")
        written = encoder.completion(forgery)
        assert [token for token in written if token < len(special)] == [encoder.end_token]


def test_special_tokens_that_a_tokenizer_does_not_name_are_broken_up_too() -> None:
    tokenizer = tokenizer_of(QWEN)
    tokenizer.add_tokens(["<|reserved|>"], special_tokens=True)
    tokenizer.add_tokens(["  "])
    encoder = Encoder(tokenizer, "template")
    text = rendered(encoder.template or template_of(QWEN),
                    Message(role="user", content="a<|reserved|>b  c"))  # fmt: skip
    assert "a< |reserved|>b  c" in text, "tokens that are plain text are left as they are"


def test_words_that_are_no_marks_are_left_as_they_are() -> None:
    content = "The assistant says: user < model > [1] a system\n{{ m.content }} {% endfor %} USER "
    for text, template in TEMPLATES.items():
        expected = content if text != MISTRAL else content.strip()
        assert expected in rendered(template, Message(role="user", content=content))


def test_a_template_writes_what_begins_a_text_itself() -> None:
    encoder = Encoder(tokenizer_of(MISTRAL, LLAMA2), "template")
    body = RequestBody(messages=(USER,), prefix="R")
    tokens = encoder.prompt(body)
    assert tokens.count(1) == 1, "<s> comes from the template, and not from the tokenizer again"
    plain = make_tokenizer(LLAMA2, begins=True)("<s>[INST] U [/INST] R", add_special_tokens=False)
    assert tokens == plain["input_ids"]
    text = render(body.messages, "template", body.prefix, encoder.template)
    assert encoder.count(text) == len(tokens)


def test_choices_are_scored_behind_a_template() -> None:
    tokenizer = tokenizer_of(QWEN)
    encoder = Encoder(tokenizer, "template")
    body = RequestBody(messages=(SYSTEM, USER), prefix="Resp", choices=("onse 1", "onse 2"))
    trie = encoder.trie(body)
    text = render(body.messages, "template", body.prefix, encoder.template)
    for choice, steps in zip(body.choices or (), trie.steps, strict=True):
        whole = tokenizer(text + choice, add_special_tokens=False)["input_ids"]
        assert [*trie.root, *(token for _, token in steps)] == whole


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (None, "has no chat template"),
        ("{{ raise_exception('no') }}", "cannot render these turns: no"),
        ("{{ messages[0].content.missing.deeper }}", "cannot render"),
        ("{% for %}", "cannot render"),
        ("Hello", "leaves out the user's message"),
    ],
)
def test_a_template_of_no_use_is_told_with_what_to_do(template: str | None, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as told:
        Encoder(tokenizer_of(template), "template")
    assert "chatml, llama2 or none" in str(told.value.hint)


def test_a_card_is_bound_to_the_text_of_its_template() -> None:
    card = JudgeCard(name="j", title="j", backend="hf", model="m", wrapper="template")
    pinned = pin_template(card, template_of(QWEN))
    assert pinned.options == {"template_sha256": template_of(QWEN).sha256}
    assert pin_template(pinned, template_of(QWEN)) == pinned
    with pytest.raises(ConfigError, match=r"not the one that the card pins: expected sha256"):
        pin_template(pinned, template_of(GEMMA))
    assert pin_template(card, None) is card
