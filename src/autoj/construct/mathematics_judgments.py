"""Judgments of answers to problems, written by the rule that made the answers."""

from dataclasses import dataclass
from random import Random

from autoj import critiques
from autoj.construct.worked_solutions import WrongStep
from autoj.critiques import Factor, PairCritique
from autoj.records import Shown, Winner


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A response to a problem, and what is known of it."""

    kind: str
    """right, answer_alone, wrong_step or stops_early."""
    text: str
    answer: str
    """The number that it arrives at."""
    step: WrongStep | None = None
    """The error of a wrong step."""


def judge_beside(better: Answer, worse: Answer, label: Winner, generator: Random) -> str:
    """A judgment of a pair in the layout of Table 18.

    Args:
        better: the better answer.
        worse: the other one.
        label: the place of the better one, "a" or "b".
        generator: draws the wording.
    """
    good, bad = ("Response 1", "Response 2") if label == "a" else ("Response 2", "Response 1")
    factors = [*_about_method(good, bad, better, worse, generator)]
    factors.append(_about_answers(good, bad, better, worse, generator))
    generator.shuffle(factors)
    decision: Shown = "1" if label == "a" else "2"
    remark = generator.choice(_REMARKS[worse.kind]).format(good=good, bad=bad)
    return critiques.render(PairCritique(factors=tuple(factors), decision=decision, remark=remark))


def criticise(answer: Answer, right: str, generator: Random) -> str:
    """A critique of one answer, without its rating.

    Args:
        answer: the answer.
        right: the right number.
        generator: draws the wording.
    """
    parts = [generator.choice(texts) for texts in _CRITIQUES[answer.kind]]
    return " ".join(parts).format(answer=answer.answer, right=right, **_step_of(answer))


def _step_of(answer: Answer) -> dict[str, str]:
    if answer.step is None:
        return {}
    step = answer.step
    return {"sum": step.calculation, "wrong": step.wrong, "due": step.right}


def _about_method(
    good: str, bad: str, better: Answer, worse: Answer, generator: Random
) -> list[Factor]:
    """The factors that tell the two ways apart."""
    texts = _METHODS[worse.kind]
    name, text = generator.choice(texts)
    found = [Factor(name=name, explanation=text.format(good=good, bad=bad, **_step_of(worse)))]
    if better.kind == "answer_alone":
        name, text = generator.choice(_UNEXPLAINED)
        found.append(Factor(name=name, explanation=text.format(good=good, bad=bad)))
    elif worse.kind != "answer_alone":
        name, text = generator.choice(_ALIKE)
        found.append(Factor(name=name, explanation=text))
    return found


def _about_answers(good: str, bad: str, better: Answer, worse: Answer, generator: Random) -> Factor:
    texts = _SAME_ANSWER if better.answer == worse.answer else _OTHER_ANSWER
    text = generator.choice(texts).format(
        good=good, bad=bad, right=better.answer, wrong=worse.answer
    )
    return Factor(name="final answer", explanation=text)


_METHODS = {
    "wrong_step": (
        ("accuracy", "{bad} miscalculates one step: it takes {sum} to be {wrong}; it is {due}."),
        ("calculation", "In {bad}, {sum} becomes {wrong}, and what builds on it is wrong, too."),
        ("correctness of the steps", "A step of {bad} is wrong: {sum} is {due}, not {wrong}."),
    ),
    "stops_early": (
        ("completeness", "{bad} stops before the last step and answers with a result on the way."),
        ("completeness", "{bad} leaves out the last calculation; {good} carries it out."),
        ("answering the question", "What {bad} arrives at is needed, but it is not asked for."),
    ),
    "answer_alone": (
        ("explanation", "{good} shows each calculation to be checked. {bad} only states a number."),
        ("showing the work", "{bad} gives no steps; {good} works the problem out line by line."),
        (
            "clarity",
            "{good} tells a reader how the result comes about; {bad} leaves it open.",
        ),
    ),
}
_UNEXPLAINED = (
    ("explanation", "{bad} shows its steps and {good} does not, but they lead to a wrong result."),
    ("showing the work", "{bad} explains more, which does not make up for a wrong result."),
)
_ALIKE = (
    ("approach", "Both responses set the problem up in the same way."),
    ("clarity", "Both responses are easy to follow, with one calculation after the other."),
    ("structure", "Both responses go through the problem step by step."),
)
_SAME_ANSWER = (
    "Both responses arrive at {right}, which is right.",
    "The result, {right}, is the same in both responses, and it is correct.",
)
_OTHER_ANSWER = (
    "{good} arrives at {right}, which is right. {bad} arrives at {wrong}, which is not.",
    "The right answer is {right}. {good} gives it; {bad} gives {wrong}.",
    "{bad} ends with {wrong} instead of {right}, the answer that {good} gives.",
)
_REMARKS = {
    "wrong_step": (
        "An error in a calculation decides here, as the result must be right.",
        "{bad} would have been as good but for its miscalculation.",
        "In mathematics a wrong result outweighs everything else.",
    ),
    "stops_early": (
        "{bad} is right as far as it goes, but it does not answer the question.",
        "Only {good} takes the last step and answers what was asked.",
    ),
    "answer_alone": (
        "Both are correct, and {good} also shows why.",
        "As both results are right, the explanation makes the difference.",
    ),
}
_CRITIQUES = {
    "right": (
        ("The response solves the problem correctly.", "The solution is right in every step."),
        (
            "Each calculation is written down and leads to the next one, so it is easy to check.",
            "It goes through the problem in order and states every intermediate result.",
        ),
        (
            "The final answer of {answer} is correct. It could say a little more about why each "
            "quantity is needed.",
            "It arrives at {answer}, as it should, and states that clearly at the end.",
        ),
    ),
    "answer_alone": (
        ("The answer of {answer} is correct.", "The response names the right number, {answer}."),
        (
            "However, it shows no work at all, so nobody can see how the result comes about.",
            "It gives no calculation and no reason, which a user who wants to understand the "
            "problem needs.",
        ),
        ("With its steps it would be a good solution.", "The steps should have been shown."),
    ),
    "wrong_step": (
        (
            "The response sets the problem up properly, but miscalculates: {sum} is {due}, not "
            "{wrong}.",
            "There is an error in the calculation. The response takes {sum} to be {wrong}, while "
            "it is {due}.",
        ),
        (
            "As later steps use this number, the final answer of {answer} is wrong; it should be "
            "{right}.",
            "So it ends with {answer} where {right} is right.",
        ),
        (
            "The steps are clearly laid out, but a solution has to be correct first of all.",
            "A check of each calculation would have found the error.",
        ),
    ),
    "stops_early": (
        (
            "The response does not answer the question: it stops one step before the end.",
            "The calculations are right as far as they go, but the last one is missing.",
        ),
        (
            "It presents {answer} as the answer, and the right one is {right}.",
            "Its {answer} is a result on the way; what was asked for is {right}.",
        ),
        (
            "Reading the question again before the end would have helped.",
            "It should have carried on to what the question asks for.",
        ),
    ),
}
