"""A critique that is cut is marked on the page, in the terminal and in a run's figures."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, Group

from autoj.records import Case, JudgeCard, Response, Verdict
from autoj.reports.case import first_critique
from autoj.reports.html.entries import page_verdict
from autoj.reports.judge import summary_table
from autoj.reports.summary import summarise, summary_record
from autoj.runs import CaseRecord, make_spec

CARD = JudgeCard(
    name="j", title="j", backend="scripted", model="m", protocols=("single",), context_tokens=99
)
CASE = Case(id="1", query="Why?", cluster="why", responses=(Response(text="Because."),))
LOOP = "It is not helpful. " * 9 + "\n\nRating: [[2]]"
VERDICT = Verdict(case_id="1", judge="j", ratings=(2.0,), critiques=(LOOP,))


def printed(*parts: object) -> str:
    console = Console(file=StringIO(), width=80)
    console.print(Group(*parts))  # type: ignore[arg-type]
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def test_the_terminal_shows_the_first_round_and_the_mark() -> None:
    shown = printed(*first_critique([(CASE, VERDICT)]))
    assert shown.count("It is not helpful.") == 1
    assert "[cut: it repeats itself]" in shown
    assert "Rating: [[2]]" in shown


def test_the_page_has_the_mark_at_the_critique_s_end() -> None:
    record = CaseRecord(case=CASE, verdict=VERDICT, judgments=(), paired=False)
    found = page_verdict(record)
    assert found is not None
    (critique,) = found.critiques
    assert critique.closing == "[cut: it repeats itself]"
    assert critique.parts[0].text.count("helpful") == 1


def test_figures_count_what_is_cut_and_say_nothing_of_none() -> None:
    spec = make_spec("rate", CARD)
    summary = summarise([(CASE, VERDICT)], spec, 1)
    assert summary.critique_faults == {"repeats itself": 1}
    assert "1 repeats itself" in printed(summary_table(summary, spec))
    plain = Verdict(case_id="1", judge="j", ratings=(2.0,), critiques=("It is wrong.",))
    none = summarise([(CASE, plain)], spec, 1)
    assert "critique_faults" not in summary_record(none)
    assert "critiques cut" not in printed(summary_table(none, spec))


def test_a_wrong_quotation_is_named_where_a_critique_is_read_and_hides_nothing() -> None:
    hostile = "the \x1b[31mred\u202e <b>secret</b> sauce"
    critique = f'Response 1 says "{hostile}".'
    pair = Case(id="1", query="Why?", cluster="why", responses=(Response(text="Because."),) * 2)
    verdict = Verdict(case_id="1", judge="j", winner="a", winners=("a",), critiques=(critique,))
    shown = printed(*first_critique([(pair, verdict)]))
    assert 'sauce" does not stand in Response 1]' in " ".join(shown.split())
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    found = page_verdict(CaseRecord(case=pair, verdict=verdict, judgments=(), paired=True))
    assert found is not None
    (read,) = found.critiques
    assert read.closing.endswith('sauce" does not stand in Response 1]')
    assert "\x1b" not in read.closing
    assert "\u202e" not in read.closing
