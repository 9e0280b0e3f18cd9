"""MT-Bench's and Arena-Hard's answers: one file of questions, and one file of answers per model.

```
questions   {"question_id", "category", "turns": ["…", …], "reference": ["…", …]}   MT-Bench
            {"question_id", "category", "turns": [{"content": "…"}]}                 Arena-Hard 0.1
            {"uid", "category", "prompt"}                                            Arena-Hard 2.0
answers     {"question_id", "model_id", "choices": [{"turns": ["…", …]}]}            MT-Bench
            {"question_id", "model_id", "choices": [{"turns": [{"content": "…"}]}]}  Arena-Hard 0.1
            {"uid", "model", "messages": [{"role", "content": {"answer": "…"}}]}     Arena-Hard 2.0
```
Of several choices the first is taken, as both tools do. A second answer to a question is a bad
row: the tools take the last one, which may be the wrong one.

**Source**: lm-sys/FastChat, fastchat/llm_judge/data/mt_bench and gen_model_answer.py;
lmarena/arena-hard-auto, gen_answer.py (versions 0.1 and 2.0) and data/*/question.jsonl.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autoj.datasets._conversations import as_texts
from autoj.datasets._joined import Join, Side, check_match
from autoj.datasets._rows import read_rows
from autoj.datasets.base import FieldError, ReadRow, make_case, optional_text, require, require_text
from autoj.errors import DataError
from autoj.records import Case, Message, Response, normalise_query


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """A question, turn by turn."""

    number: int | str
    turns: tuple[str, ...]
    references: tuple[str | None, ...]
    category: str | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """A model's answer to a question, turn by turn."""

    model: str | None
    turns: tuple[str, ...]


def is_question(row: dict[str, Any]) -> bool:
    """True where a row is a question without an answer."""
    return ("question_id" in row and "turns" in row and "choices" not in row) or (
        {"uid", "prompt"} <= row.keys() and "messages" not in row
    )


def is_answer(row: dict[str, Any]) -> bool:
    """True where a row is an answer without its question."""
    return {"question_id", "choices"} <= row.keys()


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFiles:
    """Questions with the answers of one model, or of two."""

    questions: Path
    answers: tuple[Path, ...]
    """One file to rate, or two to compare, a first."""
    turn: int = 1
    """The turn to judge, counted from 1; a later one is judged with the turns before it."""
    join: Join = "strict"

    def check(self) -> str | None:
        """Reads all files once, to check that each model answers every question.

        Returns:
            With `inner`, a description of what is left out; None where nothing is.

        Raises:
            DataError: the files do not match, or no question has the turn.
        """
        questions = self._questions()
        if not any(len(question.turns) >= self.turn for question in questions.values()):
            most = max(len(question.turns) for question in questions.values())
            raise DataError(
                f"no question has turn {self.turn}; the longest has {most}", path=self.questions
            )
        asked = Side(path=self.questions, keys=Counter(questions.keys()))
        told = [
            check_match(self._side(path), asked, self.join, "questions") for path in self.answers
        ]
        return "; ".join(note for note in told if note) or None

    def read(self) -> Iterator[ReadRow]:
        """Reads a case per answer of the first file, in its order; other files stay in memory."""
        questions = self._questions()
        others: list[dict[str, _Answer]] = []
        for path in self.answers[1:]:
            held: dict[str, _Answer] = {}
            for line, key, answer in _read_answers(path):
                if isinstance(answer, DataError):
                    yield ReadRow(line, answer)
                else:
                    held[key] = answer
            others.append(held)
        first = self.answers[0]
        for line, key, answer in _read_answers(first):
            if isinstance(answer, DataError):
                yield ReadRow(line, answer)
                continue
            known = [held[key] for held in others if key in held]
            if key not in questions or len(known) < len(others):
                continue
            try:
                case = self._case(key, questions[key], [answer, *known], line)
            except FieldError as error:
                fault = DataError(error.message, path=first, line=line, field=error.field)
                yield ReadRow(line, fault)
            else:
                yield ReadRow(line, case)

    def _questions(self) -> dict[str, _Question]:
        found: dict[str, _Question] = {}
        for line, row in read_rows(self.questions):
            if isinstance(row, DataError):
                raise row
            try:
                question = _question(row)
            except FieldError as error:
                raise DataError(
                    error.message, path=self.questions, line=line, field=error.field
                ) from None
            if str(question.number) in found:
                raise DataError(
                    f"question {question.number} appears twice", path=self.questions, line=line
                )
            found[str(question.number)] = question
        if not found:
            raise DataError("is empty: it holds no rows", path=self.questions)
        return found

    def _side(self, path: Path) -> Side:
        keys: Counter[str] = Counter()
        faults: list[DataError] = []
        for _, key, answer in _read_answers(path):
            if isinstance(answer, DataError):
                faults.append(answer)
            else:
                keys[key] += 1
        if not keys and not faults:
            raise DataError("is empty: it holds no rows", path=path)
        return Side(
            path=path, keys=keys, first_fault=faults[0] if faults else None, n_faults=len(faults)
        )

    def _case(self, key: str, question: _Question, answers: Sequence[_Answer], line: int) -> Case:
        turn = self.turn
        if len(question.turns) < turn:
            raise FieldError("turns", f"question {key} has no turn {turn}")
        for answer in answers:
            if len(answer.turns) < turn:
                name = answer.model or "a model"
                raise FieldError("turns", f"{name} has no answer to turn {turn} of question {key}")
        query, texts = as_texts([_conversation(question, answer, turn) for answer in answers])
        reference = question.references[turn - 1] if len(question.references) >= turn else None
        meta = {"question_id": question.number, "turn": turn, "category": question.category}
        case = make_case(
            id=f"{question.source}-{key}" + (f"-turn-{turn}" if turn > 1 else ""),
            query=query,
            responses=tuple(
                Response(text=text, model=answer.model)
                for text, answer in zip(texts, answers, strict=True)
            ),
            line=line,
            source=question.source,
            reference=reference or None,
            meta={name: value for name, value in meta.items() if value is not None},
        )
        # Earlier answers in the query text do not make it another query.
        return replace(case, cluster=normalise_query(question.turns[0]))


def _conversation(question: _Question, answer: _Answer, turn: int) -> tuple[Message, ...]:
    return tuple(
        message
        for asked, said in zip(question.turns[:turn], answer.turns[:turn], strict=True)
        for message in (
            Message(role="user", content=asked),
            Message(role="assistant", content=said),
        )
    )


def _read_answers(path: Path) -> Iterator[tuple[int, str, _Answer | DataError]]:
    """The answers of a file with their questions' numbers; of repeated answers only the first."""
    lines: dict[str, int] = {}
    for line, row in read_rows(path):
        if isinstance(row, DataError):
            yield line, "", row
            continue
        try:
            key, answer = _answer(row)
        except FieldError as error:
            fault = DataError(error.message, path=path, line=line, field=error.field)
            yield line, "", fault
            continue
        if key in lines:
            twice = f"question {key} was already answered in line {lines[key]}"
            yield line, key, DataError(twice, path=path, line=line)
            continue
        lines[key] = line
        yield line, key, answer


def _question(row: dict[str, Any]) -> _Question:
    category = optional_text(row, "category")
    if "uid" in row:
        turns: tuple[str, ...] = (require_text(row, "prompt"),)
        source = "arena-hard"
    else:
        listed = require(row, "turns", list, "a list of the user's turns")
        turns = tuple(_said(turn, f"turns[{index}]") for index, turn in enumerate(listed))
        source = "arena-hard" if any(isinstance(turn, dict) for turn in listed) else "mt-bench"
    if not turns:
        raise FieldError("turns", "expected at least one turn")
    return _Question(
        number=_number(row),
        turns=turns,
        references=_references(row),
        category=category,
        source=source,
    )


def _references(row: dict[str, Any]) -> tuple[str | None, ...]:
    if not isinstance(row.get("reference"), list):
        return ()
    return tuple(item if isinstance(item, str) else None for item in row["reference"])


def _answer(row: dict[str, Any]) -> tuple[str, _Answer]:
    if "messages" in row:
        messages = said_in(row)
        said = tuple(message.content for message in messages if message.role == "assistant")
        return str(_number(row)), _Answer(model=optional_text(row, "model"), turns=said)
    choices = require(row, "choices", list, "a list of choices")
    choice = choices[0] if choices else None
    if not isinstance(choice, dict) or not isinstance(choice.get("turns"), list):
        raise FieldError("choices[0]", "expected an object with turns")
    turns = tuple(
        _said(turn, f"choices[0].turns[{index}]") for index, turn in enumerate(choice["turns"])
    )
    return str(_number(row)), _Answer(model=optional_text(row, "model_id"), turns=turns)


def said_in(row: dict[str, Any]) -> tuple[Message, ...]:
    """The turns of user and model in the `messages` of an Arena-Hard answer."""
    messages = []
    for index, item in enumerate(require(row, "messages", list, "a list of messages")):
        field = f"messages[{index}]"
        role = item.get("role") if isinstance(item, dict) else None
        if role not in ("system", "user", "assistant"):
            raise FieldError(field, "expected a message with role and content")
        if role != "system":
            content = _said(item.get("content"), f"{field}.content")
            messages.append(Message(role=role, content=content))
    roles = [message.role for message in messages]
    if not roles or roles != ["user", "assistant"] * (len(roles) // 2):
        raise FieldError("messages", "expected alternating turns of the user and the assistant")
    return tuple(messages)


def _said(value: object, field: str) -> str:
    """A text, which newer layouts wrap in an object."""
    if isinstance(value, dict):
        value = value.get("answer", value.get("content"))
    if not isinstance(value, str):
        raise FieldError(field, f"expected a string, found {type(value).__name__}")
    return value


def _number(row: dict[str, Any]) -> int | str:
    field = "uid" if "uid" in row else "question_id"
    number: int | str = require(row, field, (int, str), "a number or a string")
    return number
