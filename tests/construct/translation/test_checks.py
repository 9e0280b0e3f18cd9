"""Checks of translations beside their texts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from autoj.construct.translation.checks import has_words, kept_fault, reply_fault
from autoj.critiques import Language

pytest.importorskip("py3langid")

Check = Callable[..., str | None]

LONG = "The weather is fine today, and we shall walk along the river until it gets dark. " * 6
LONG_ZH = "今天天气很好，我们要沿着河边一直走到天黑。" * 6
GERMAN = "Das Wetter ist heute schön, und wir gehen am Fluss entlang. " * 6
BROKEN = "Some words that were\nbroken at a width\nof twenty letters or\nso, as of old."
LINES = "".join(f"Step number {word} is about the weather.\n" for word in ("a", "b", "c", "d", "e"))


@pytest.fixture
def fault() -> Check:
    from autoj.construct.languages import load_identifier

    identify = load_identifier()

    def check(text: str, translation: str, to: Language = "zh") -> str | None:
        found = reply_fault(text, translation, to, identify)
        return None if found is None else found[0]

    return check


GOOD: list[tuple[str, str, Language]] = [
    ("Paris", "巴黎", "zh"),
    ("Why?", "为什么？", "zh"),
    (LONG, LONG_ZH, "zh"),
    (LONG_ZH, LONG, "en"),
    ("巴黎", "Paris", "en"),
    ("I'm sorry, but I cannot help you with that.", "抱歉，我无法帮助您。", "zh"),
    ("As an AI language model, I have no opinion.", "作为人工智能语言模型，我没有观点。", "zh"),
    ("抱歉，我不能这样做。", "Sorry, I cannot do that.", "en"),
    # Lines that were broken at a width are joined, and no word is lost.
    (BROKEN, "一些在大约二十个字母处换行的文字，像从前那样。", "zh"),
    ("So, the final decision is Response 1.", "所以，最终决定是回应1", "zh"),
]  # fmt: skip
BAD: list[tuple[str, str, Language, str]] = [
    (LONG, "抱歉，我无法翻译这段文字。", "zh", "refused"),
    (LONG, "作为一个人工智能助手，我不能翻译。", "zh", "refused"),
    (LONG_ZH, "I'm sorry, but I can't translate this.", "en", "refused"),
    (LONG, LONG, "zh", "not translated"),
    ("Paris", " paris\n", "zh", "not translated"),
    (LONG, LONG_ZH[:60] + LONG[200:], "zh", "reply in another language"),
    (LONG, GERMAN, "zh", "reply in another language"),
    ("Paris", "パリ", "zh", "reply in another language"),
    ("Paris", "Lutetia", "zh", "reply in another language"),
    (LONG_ZH, LONG_ZH[::-1], "en", "reply in another language"),
    (LONG, "今天天气很好，我们去散步。", "zh", "too short for a translation"),
    ("Hi", "春眠不觉晓，处处闻啼鸟。夜来风雨声，花落知多少。", "zh", "too long for a translation"),
    (LINES, "第一步讲的是天气，第二步讲的也是天气。\n第三步", "zh", "too short for a translation"),
    ("Is it true that we use a tenth of it?", "是的，我们只用了十分之一。", "zh", "answered"),
    ("我们真的只用了十分之一吗？", "Yes, we use a tenth of it.", "en", "answered"),
    ("We walk along the river until it is dark.", "我们沿着河边一直走到", "zh", "cut off"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "translation", "to"), GOOD)
def test_a_translation_passes(fault: Check, text: str, translation: str, to: Language) -> None:
    assert fault(text, translation, to) is None


@pytest.mark.parametrize(("text", "translation", "to", "reason"), BAD)
def test_a_reply_that_is_no_translation_is_named(
    fault: Check, text: str, translation: str, to: Language, reason: str
) -> None:
    assert fault(text, translation, to) == reason


@pytest.mark.parametrize(
    ("text", "translation", "reason"),
    [
        ("See https://a.org/x, or www.b.org.", "见 https://a.org/x，或 www.b.org。", None),
        ("See https://a.org/x.", "见 https://a.org/y。", "addresses changed"),
        ("See (https://a.org/2020/1).", "见（https://a.org/2020/1）。", None),
        ("Run:\n```\nls -l\n```", "运行：\n```\nls -l\n```", None),
        ("Run:\n```\nls -l  # list\n```", "运行：\n```\nls -l  # 列出\n```", "code changed"),
        ("Run ls.", "运行：\n```\nls\n```", "code changed"),
        ("It has 7 days.", "有七天。", None),
        ("It has 7 days.", "有八天。", "numbers changed"),
    ],
)
def test_code_addresses_and_numbers_are_kept(
    text: str, translation: str, reason: str | None
) -> None:
    found = kept_fault(text, translation)
    assert (None if found is None else found[0]) == reason


@pytest.mark.parametrize(
    ("text", "to", "expected"),
    [
        ("", "zh", False),
        ("42 + 1 = 43", "zh", False),
        ("https://example.org", "zh", False),
        ("```\nprint(1)\n```", "zh", False),
        ("你好。", "zh", False),
        ("你好, world", "zh", True),
        ("Привет", "zh", True),
        ("你好", "en", True),
        ("Hello", "en", False),
        ("Äpfel", "en", False),
        ("Привет", "en", True),
    ],
)
def test_only_texts_with_words_are_sent(text: str, to: Language, expected: bool) -> None:
    assert has_words(text, to) is expected


@pytest.mark.parametrize("run", ["。", "http://", "⟦", "抱歉", "a\n", "```\n", "www.", "很"])
def test_long_hostile_replies_are_checked_to_their_end(fault: Check, run: str) -> None:
    text = run * (50_000 // len(run))
    fault(LONG, text)
    fault(text, LONG_ZH)
    kept_fault(text, text)
