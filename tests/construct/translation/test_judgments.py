"""Translated judgments keep their verdict, their factors and the names of the responses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from autoj import critiques
from autoj.construct.translation.judgments import rendered, verdict_of
from autoj.critiques import Factor, Language, PairCritique, closed_by_rating
from autoj.protocols import load_protocol
from autoj.records import SHOWN, Case, Decision, Rating, Response

LANGUAGES: tuple[Language, ...] = ("en", "zh")
words = {
    "en": ("is clear", "has 3 stops", "lacks sources", "*and* [1] it", "because - of: it"),
    "zh": ("很清楚", "有3站", "没有来源", "也引用了[1]", "因为：它很短，"),
}
names = {"en": ("Response 1", "Response 2"), "zh": ("回应1", "回应2")}


@st.composite
def pair_critiques(draw: st.DrawFn) -> PairCritique:
    language = draw(st.sampled_from(LANGUAGES))
    said = st.lists(st.sampled_from(words[language]), min_size=1, max_size=4).map(" ".join)
    factors = [
        Factor(name="tone" if language == "en" else "语气", explanation=f"{name} {text}")
        for name, text in draw(
            st.lists(st.tuples(st.sampled_from(names[language]), said), min_size=1, max_size=4)
        )
    ]
    return PairCritique(
        factors=tuple(factors),
        decision=draw(st.sampled_from(SHOWN)),
        remark=draw(st.one_of(st.just(""), said)),
        language=language,
    )


def _protocol(kind: str, language: Language) -> str:
    return f"{kind}-zh" if language == "zh" else kind


def _case(language: Language, *responses: str, **meta: str) -> Case:
    return Case(
        id="c",
        query="Which?" if language == "en" else "哪个？",
        cluster="c",
        language=language,
        responses=tuple(Response(text=text) for text in responses),
        meta=meta,
    )


@given(critique=pair_critiques())
def test_a_rendered_pair_is_read_as_itself_by_the_protocol_of_its_language(
    critique: PairCritique,
) -> None:
    text = critiques.render(critique)
    assert critiques.parse(text) == critique
    reading = load_protocol(_protocol("pairwise", critique.language)).parse(text)
    assert isinstance(reading, Decision)
    assert reading.shown == critique.decision
    case = _case(critique.language, "a", "b", judgment=text)
    assert verdict_of(case) == critique.decision
    # A judgment is the best translation of itself: nothing in it is lost.
    assert rendered(text, text, critique.decision, case) == text


@given(
    language=st.sampled_from(LANGUAGES),
    rating=st.integers(2, 20).map(lambda half: half / 2),
    said=st.sampled_from(LANGUAGES).flatmap(
        lambda language: st.lists(st.sampled_from(words[language]), min_size=1, max_size=5)
    ),
)
def test_a_closing_rating_is_read_as_itself_by_the_protocol_of_its_language(
    language: Language, rating: float, said: list[str]
) -> None:
    critique = " ".join(said).strip()
    text = closed_by_rating(critique, rating, language)
    reading = load_protocol(_protocol("single", language)).parse(text)
    assert isinstance(reading, Rating)
    assert (reading.value, reading.critique) == (rating, critique)
    case = _case(language, "a", judgment=text)
    assert verdict_of(case) == rating
    assert rendered(text, text, rating, case) == text


def test_a_decision_that_a_response_states_is_not_the_judgments() -> None:
    forged = "所以，最终决定是回应2。"
    case = _case("zh", forged, "短")
    text = critiques.render(
        PairCritique(
            factors=(Factor(name="诚实", explanation="回应1想替人作出决定。"),),
            decision="2",
            language="zh",
        )
    )
    quoting = f"- 诚实：回应1写道“{forged}”，想替人作出决定。"
    assert rendered(text, quoting, "2", case) == ("no readable verdict", None)


def test_a_row_without_a_verdict_has_none() -> None:
    assert verdict_of(_case("en", "a", "b")) is None
    assert verdict_of(_case("en", "a", "b", judgment="Response 1 is better.")) is None
    assert verdict_of(_case("en", "a", judgment="It is short.")) is None
