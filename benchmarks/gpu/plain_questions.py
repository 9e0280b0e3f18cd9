"""Plain questions with a right and a wrong answer, made by rules.

Judges that learn from people's votes learn that the longer and friendlier response wins. Here the
wording says nothing about which response is right: both get their style from the same draw, and a
bare number is as often right as a page with a heading is.

    python -m benchmarks.gpu.plain_questions --n 2600 --seed 1 --out plain.jsonl
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.gpu.plain_facts import (
    CAPITALS,
    FACTS,
    FRENCH,
    LEGS,
    OPPOSITES,
    PASTS,
    PLURALS,
    SPANISH,
    SYMBOLS,
    UNITS,
    WORDS,
)

_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_NUMERALS = [
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
    (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
]  # fmt: skip
_SLIPS = [-20, -11, -10, -9, -5, -3, -2, -1, 1, 2, 3, 5, 9, 10, 11, 20, 100]
"""Typical differences of a wrong number from the right one."""
_PADDING = [
    "Let me know if you have any other questions!",
    "I hope this helps.",
    "If you would like to learn more about this topic, feel free to ask me anything else.",
    "This is a common question and it is good to know the answer.",
    "You can verify this easily in any reference work or with a calculator.",
    "Great question! ",
    "It helps to go through it step by step so that no mistake is made on the way, and then to "
    "check the result once more at the end.",
    "Knowing this can be useful in everyday life, at school, and at work.",
]
_REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "As an AI language model, I cannot answer this question. Please consult an expert.",
    "I don't know.",
    "I am unable to provide an answer to this request. It would be best to look it up in a "
    "reliable source or to ask somebody who knows.",
]
_OTHER_LANGUAGES = [
    "La respuesta depende de varios factores, pero en general se puede decir que sí, y conviene "
    "consultarlo con calma.",
    "Das ist eine gute Frage. Die Antwort darauf hängt davon ab, wie man sie betrachtet.",
]

BARE, SENTENCE, PADDED = 0, 1, 2
"""Styles of a response: the answer alone, in a sentence, or among sentences that add nothing."""
_STYLES = [BARE, BARE, SENTENCE, SENTENCE, PADDED]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with a right and a wrong answer."""

    kind: str
    text: str
    right: str
    wrong: str
    subject: str | None
    """The thing that the answer states, such as "3 + 4"; None where no sentence can name it."""


def roman(number: int) -> str:
    """Writes a number in Roman numerals.

    >>> roman(94)
    'XCIV'
    """
    written = ""
    for value, numeral in _NUMERALS:
        while number >= value:
            written += numeral
            number -= value
    return written


def _near(random: Random, number: int) -> int:
    """A wrong number that is not negative."""
    while True:
        slipped = number + random.choice(_SLIPS)
        if slipped != number and slipped >= 0:
            return slipped


# One function per kind. The order of their draws decides which questions a seed gives.


def _sum(random: Random) -> Question:
    a, b = random.randint(2, 900), random.randint(2, 900)
    text = random.choice(
        [f"What is {a} + {b}?", f"{a}+{b}=?", f"add {a} and {b}",
         f"Calculate the sum of {a} and {b}."]
    )  # fmt: skip
    wrong = str(_near(random, a + b))
    return Question(kind="sum", text=text, right=str(a + b), wrong=wrong, subject=f"{a} + {b}")


def _product(random: Random) -> Question:
    a, b = random.randint(3, 30), random.randint(3, 30)
    text = random.choice(
        [f"What is {a} times {b}?", f"{a} x {b}", f"multiply {a} by {b} please"]
    )  # fmt: skip
    wrong = str(_near(random, a * b))
    return Question(kind="product", text=text, right=str(a * b), wrong=wrong, subject=f"{a} × {b}")


def _difference(random: Random) -> Question:
    a = random.randint(50, 1000)
    b = random.randint(2, a - 1)
    text = random.choice([f"{a} - {b}", f"What do I get if I subtract {b} from {a}?"])
    wrong = str(_near(random, a - b))
    right = str(a - b)
    return Question(kind="difference", text=text, right=right, wrong=wrong, subject=f"{a} - {b}")


def _percent(random: Random) -> Question:
    share = random.choice([5, 10, 15, 20, 25, 30, 40, 50, 75])
    whole = random.randint(2, 40) * 20  # so that each share of it is a whole number
    text = random.choice([f"What is {share}% of {whole}?", f"calculate {share} percent of {whole}"])
    part = share * whole // 100
    return Question(
        kind="percent",
        text=text,
        right=f"{part}",
        wrong=f"{_near(random, part):g}",
        subject=f"{share}% of {whole}",
    )


def _units(random: Random) -> Question:
    larger, smaller, factor = random.choice(UNITS)
    n = random.randint(2, 25)
    text = random.choice(
        [f"How many {smaller} are {n} {larger}?", f"convert {n} {larger} to {smaller}"]
    )
    right = n * factor
    wrong = random.choice([right * 10, right + factor, max(1, right - factor), right // 2 + 1])
    return Question(
        kind="units",
        text=text,
        right=f"{right} {smaller}",
        wrong=f"{wrong} {smaller}",
        subject=f"{n} {larger} in {smaller}",
    )


def _weekday(random: Random) -> Question:
    today = random.randint(0, 6)
    n_days = random.randint(2, 40)
    right = _DAYS[(today + n_days) % 7]
    return Question(
        kind="weekday",
        text=f"If today is {_DAYS[today]}, what day of the week is it in {n_days} days?",
        right=right,
        wrong=random.choice([day for day in _DAYS if day != right]),
        subject=f"the day {n_days} days after {_DAYS[today]}",
    )


def _looked_up(
    kind: str, table: Mapping[str, str], texts: list[str], subject: str
) -> Callable[[Random], Question]:
    """A kind whose wrong answers are the right ones of other entries."""

    def ask(random: Random) -> Question:
        entry = random.choice(list(table))
        right = table[entry]
        wrong = random.choice([value for value in table.values() if value != right])
        return Question(
            kind=kind,
            text=random.choice(texts).format(entry),
            right=right,
            wrong=wrong,
            subject=subject.format(entry),
        )

    return ask


def _count(random: Random) -> Question:
    word = random.choice(WORDS)
    letter = random.choice(sorted(set(word)))
    right = word.count(letter)
    return Question(
        kind="count",
        text=f'How many times does the letter "{letter}" appear in "{word}"?',
        right=str(right),
        wrong=str(random.choice([n for n in range(6) if n != right])),
        subject=f'the number of "{letter}" in "{word}"',
    )


def _sort(random: Random) -> Question:
    given = [random.randint(1, 99) for _ in range(5)]
    right = sorted(given)
    wrong = right.copy()
    i, j = random.sample(range(5), 2)
    wrong[i], wrong[j] = wrong[j], wrong[i]
    if wrong == right:  # equal numbers were exchanged
        wrong = right[::-1]
    text = random.choice(
        [f"Sort these numbers in ascending order: {given}",
         "sort from small to large: " + " ".join(map(str, given))]
    )  # fmt: skip
    return Question(
        kind="sort",
        text=text,
        right=", ".join(map(str, right)),
        wrong=", ".join(map(str, wrong)),
        subject="the sorted list",
    )


def _roman(random: Random) -> Question:
    number = random.randint(4, 120)
    text = random.choice([f"Write {number} in Roman numerals.", f"{number} as a roman numeral"])
    wrong = roman(_near(random, number) or 1)
    subject = f"{number} in Roman numerals"
    return Question(kind="roman", text=text, right=roman(number), wrong=wrong, subject=subject)


def _expression(random: Random) -> tuple[str, str, str]:
    """A Python expression, its value and a wrong value."""
    kind = random.choice(["len", "slice", "mod", "floor", "join", "index"])
    if kind == "len":
        items = [random.randint(1, 9) for _ in range(random.randint(2, 7))]
        return f"len({items})", str(len(items)), str(_near(random, len(items)))
    if kind == "slice":
        word, end = random.choice(WORDS), random.randint(1, 3)
        return f'"{word}"[:{end}]', f"'{word[:end]}'", f"'{word[: end + 1]}'"
    if kind == "mod":
        a, b = random.randint(10, 60), random.randint(3, 9)
        return f"{a} % {b}", str(a % b), str(a % b + random.randint(1, 3))
    if kind == "floor":
        a, b = random.randint(10, 60), random.randint(3, 9)
        return f"{a} // {b}", str(a // b), str(a // b + 1)
    if kind == "join":
        letters = random.sample(["a", "b", "c", "d"], 3)
        return f"'-'.join({letters})", repr("-".join(letters)), repr("".join(letters))
    values = [random.randint(1, 50) for _ in range(4)]
    wrong = values[0] if values[0] != values[1] else values[1] + 1
    return f"{values}[1]", str(values[1]), str(wrong)


def _code(random: Random) -> Question:
    expression, right, wrong = _expression(random)
    text = random.choice(
        [f"What does the Python expression `{expression}` return?", f"python: {expression}"]
    )
    subject = f"the value of `{expression}`"
    return Question(kind="code", text=text, right=right, wrong=wrong, subject=subject)


def _legs(random: Random) -> Question:
    animal = random.choice(list(LEGS))
    right = LEGS[animal]
    return Question(
        kind="legs",
        text=f"How many legs does a{'n' if animal[0] in 'ao' else ''} {animal} have?",
        right=str(right),
        wrong=str(random.choice([n for n in (0, 2, 4, 6, 8, 10) if n != right])),
        subject="the number of legs",
    )


def _prime(random: Random) -> Question:
    number = random.randint(11, 97)
    is_prime = all(number % divisor for divisor in range(2, number))
    right, wrong = ("Yes", "No") if is_prime else ("No", "Yes")
    text = f"Is {number} a prime number?"
    return Question(kind="prime", text=text, right=right, wrong=wrong, subject=None)


def _even(random: Random) -> Question:
    number = random.randint(100, 9999)
    right, wrong = ("even", "odd") if number % 2 == 0 else ("odd", "even")
    text = f"Is {number} even or odd?"
    return Question(kind="even", text=text, right=right, wrong=wrong, subject=f"{number}")


def _compare(random: Random) -> Question:
    a, b = round(random.uniform(0, 20), 1), round(random.uniform(0, 20), 2)
    if a == b:
        b += 1
    return Question(
        kind="compare",
        text=f"Which number is larger, {a} or {b}?",
        right=str(max(a, b)),
        wrong=str(min(a, b)),
        subject="the larger number",
    )


def _fraction(random: Random) -> Question:
    a, b = random.randint(1, 9), random.randint(2, 9)
    return Question(
        kind="fraction",
        text=f"Write {a}/{b} as a decimal with two places.",
        right=f"{a / b:.2f}",
        wrong=f"{(a + 1) / b:.2f}",
        subject=f"{a}/{b} as a decimal",
    )


def _change(random: Random) -> Question:
    price = random.randint(3, 18)
    random.choice([1, 5, 10])  # keeps the questions of a seed as they were when judges were trained
    return Question(
        kind="change",
        text=f"I pay for something that costs ${price} with a $20 bill. How much change do I get?",
        right=f"${20 - price}",
        wrong=f"${_near(random, 20 - price)}",
        subject="your change",
    )


def _fact(random: Random) -> Question:
    text, right, wrong = random.choice(FACTS)
    return Question(
        kind="fact", text=text, right=right, wrong=random.choice(wrong), subject=None
    )  # fmt: skip


_capital = _looked_up(
    "capital", CAPITALS,
    ["What is the capital of {}?", "capital of {}", "Name the capital city of {}."],
    "the capital of {}",
)  # fmt: skip
_element = _looked_up(
    "element", SYMBOLS,
    ["What is the chemical symbol for {}?", "symbol of {} in the periodic table"],
    "the chemical symbol of {}",
)  # fmt: skip
_opposite = _looked_up(
    "opposite", OPPOSITES, ['What is the opposite of "{}"?', "antonym of {}"],
    'the opposite of "{}"',
)  # fmt: skip
_plural = _looked_up(
    "plural", PLURALS, ['What is the plural of "{}"?', "plural form of {}"], 'the plural of "{}"'
)  # fmt: skip
_past = _looked_up(
    "past", PASTS, ['What is the simple past of "{}"?', "past tense of {}"],
    'the simple past of "{}"',
)  # fmt: skip
_spanish = _looked_up(
    "spanish", SPANISH, ['How do you say "{}" in Spanish?', "translate {} to spanish"],
    '"{}" in Spanish',
)  # fmt: skip
_french = _looked_up(
    "french", FRENCH, ['How do you say "{}" in French?', "french word for {}"], '"{}" in French'
)  # fmt: skip

_KINDS: list[Callable[[Random], Question]] = [
    _sum, _sum, _product, _difference, _percent, _units, _units, _weekday, _capital, _element,
    _opposite, _plural, _past, _spanish, _french, _count, _sort, _roman, _code, _code, _legs,
    _prime, _even, _compare, _fact, _fact, _fact, _fact, _fraction, _change,
]  # fmt: skip
"""Kinds of questions; a kind that stands here twice is asked twice as often."""


def draw_question(random: Random) -> Question:
    """Draws a question of any kind."""
    return random.choice(_KINDS)(random)


def write_response(random: Random, answer: str, subject: str | None, style: int) -> str:
    """Writes a response that gives an answer, right or wrong, in a style."""
    if style == BARE:
        raised = answer.capitalize() if answer[:1].islower() else answer
        return random.choice([answer, answer, f"{answer}.", raised])
    sentence = random.choice(_sentences(answer, subject))
    if style == SENTENCE:
        return sentence
    padding = random.sample(_PADDING, random.randint(1, 4))
    place = random.randint(0, len(padding))
    if random.random() < 0.7:
        return " ".join([*padding[:place], sentence, *padding[place:]])
    return "\n\n".join(["## Answer", sentence, *padding])


def _sentences(answer: str, subject: str | None) -> list[str]:
    if subject is not None:
        raised = subject[0].upper() + subject[1:]
        return [
            f"The answer is {answer}.", f"{raised} is {answer}.", f"**{answer}** is {subject}.",
            f"{raised}: {answer}",
        ]  # fmt: skip
    if answer in ("Yes", "No"):
        told = f"{answer}, that is right to ask; the answer is {answer.lower()}."
    else:
        told = f"It is {answer}."
    return [f"The answer is {answer}.", told, f"{answer[0].upper() + answer[1:]}."]


def _worse(random: Random, question: Question, style: int) -> tuple[str, str]:
    """The worse response and its kind: a wrong answer mostly, else one that answers nothing."""
    drawn = random.random()
    if drawn < 0.72:
        return write_response(random, question.wrong, question.subject, style), question.kind
    if drawn < 0.78:
        return "", "empty"
    if drawn < 0.82:
        words = [
            "".join(random.choice("abcdefghijklmnop") for _ in range(random.randint(2, 8)))
            for _ in range(random.randint(2, 30))
        ]
        return " ".join(words), "gibberish"
    if drawn < 0.92:
        other = draw_question(random)
        style = random.choice([SENTENCE, PADDED])
        subject = other.subject or "the answer"
        return write_response(random, other.right, subject, style), "off_topic"
    if drawn < 0.97:
        return random.choice(_REFUSALS), "refusal"
    return random.choice([*_OTHER_LANGUAGES, question.text]), "wrong_language_or_echo"


def plain_questions(n: int, seed: int) -> list[dict[str, Any]]:
    """Makes pairs of responses to plain questions.

    Args:
        n: the number of pairs; one in twenty is a tie, of one answer in two styles.
        seed: the seed of all draws.

    Returns:
        Rows of a pairs file, with `meta.made`: the kind of the question, or of a response that does
        not answer it.
    """
    random = Random(seed)
    rows: list[dict[str, Any]] = []
    asked: set[str] = set()
    while len(rows) < n:
        question = draw_question(random)
        if question.right == question.wrong:
            continue
        # There are few facts, so they may come again, with other answers.
        if question.text in asked and question.kind != "fact":
            continue
        asked.add(question.text)
        better_style, worse_style = random.choice(_STYLES), random.choice(_STYLES)
        better = write_response(random, question.right, question.subject, better_style)
        worse, made = _worse(random, question, worse_style)
        if better.strip() == worse.strip():
            continue
        better_first = random.random() < 0.5
        label = "a" if better_first else "b"
        if random.random() < 0.05:
            answer = question.right if random.random() < 0.6 else question.wrong
            better = write_response(random, answer, question.subject, BARE)
            worse = write_response(random, answer, question.subject, PADDED)
            label, made = "tie", f"{made}_tie"
        rows.append(
            {
                "id": f"plain-{seed}-{len(rows)}",
                "query": question.text,
                "responses": [better, worse] if better_first else [worse, better],
                "label": label,
                "source": "plain questions by rules",
                "meta": {"made": made},
            }
        )
    return rows


def main() -> None:
    """Write a file of pairs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=2600, help="pairs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, help="a JSONL file")
    given = parser.parse_args()
    lines = [json.dumps(row, ensure_ascii=False) for row in plain_questions(given.n, given.seed)]
    given.out.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
