"""Each thing that can be wrong with a row is told with the file, the line and the field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autoj import jsonl
from autoj.datasets import format_names, open_cases
from autoj.errors import DataError
from autoj.records import Case

FILES = Path(__file__).parent / "files"
PROMPT = "[BEGIN DATA]\n***\n[Query]: q\n***\n[Response]: r\n***\n[END DATA]"
TURN = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}]
ASKED = [{"role": "user", "content": "other"}, {"role": "assistant", "content": "x"}]
ANSWERS = {"question": {"full_text": "q", "id": "1", "dataset": "eli5"}, "answer_0": "x"}
COMPARED = [{"text": "x", "policy": "m"}, {"text": "y", "policy": "n"}]
GOOD: dict[str, dict[str, Any]] = {
    "chatbot-arena": {
        "question_id": "1",
        "model_a": "m",
        "model_b": "n",
        "winner": "tie",
        "conversation_a": TURN,
        "conversation_b": TURN,
        "turn": 1,
        "anony": True,
        "language": "English",
    },
    "summarize-from-feedback": {
        "info": {"post": "p", "title": "t", "subreddit": "s"},
        "summaries": COMPARED,
        "choice": 1,
    },
    "webgpt-comparisons": {**ANSWERS, "score_0": 0.5, "answer_1": "y", "score_1": -0.5},
    "shp": {"post_id": "1", "history": "q", "human_ref_A": "x", "human_ref_B": "y", "labels": 1},
    "safe-rlhf": {"prompt": "q", "response_0": "x", "response_1": "y", "better_response_id": 1},
    "sharegpt": {"id": "1", "conversations": [{"from": "human", "value": "q"}]},
    "native": {"query": "q", "responses": ["x", "y"], "label": "a"},
    "autoj-pairwise": {"prompt": "q", "response 1": "x", "response 2": "y", "label": 0},
    "autoj-critique": {"prompt": "q", "response": "x", "critiques": {"me": "c"}},
    "autoj-independent": {"output": "c", "meta": {"prompt": "q", "response": "x"}},
    "autoj-training": {"usrmsg": PROMPT, "target_output": "c"},
    "autoj-scenarios": {"category": "planning", "instruction": "q", "input": ""},
    "autoj-selection": {"prompt": "q", "outputs": {"m": {"outputs": ["x"]}}},
    "alpaca-eval-annotations": {
        "instruction": "q",
        "output_1": "x",
        "output_2": "y",
        "preference": 1,
    },
    "alpaca-eval-outputs": {"instruction": "q", "output": "x", "generator": "m"},
    "arena-hard-answers": {"uid": "u", "model": "m", "messages": TURN},
    "evalbiasbench": {
        "bias": "b",
        "instruction": "q",
        "response1": "x",
        "response2": "y",
        "label": 1,
    },
    "gsm8k": {"question": "q", "answer": "1+1 = <<1+1=2>>2\n#### 2"},
    "hhh": {"input": "q", "target_scores": {"x": 1, "y": 0}},
    "llmbar": {"input": "q", "output_1": "x", "output_2": "y", "label": 1},
    "mt-bench-votes": {
        "model_a": "m",
        "model_b": "n",
        "winner": "model_a",
        "turn": 1,
        "conversation_a": TURN,
        "conversation_b": TURN,
    },
    "pandalm": {
        "idx": 0,
        "cmp_key": "m_n",
        "instruction": "q",
        "input": "",
        "response1": "x",
        "response2": "y",
        "annotator1": 1,
        "annotator2": 1,
        "annotator3": 0,
    },
    "reward-bench": {"prompt": "q", "chosen": "x", "rejected": "y", "id": 1},
    "reward-bench-2": {
        "id": "1",
        "prompt": "q",
        "chosen": ["x"],
        "rejected": ["y", "z"],
        "num_correct": 1,
        "num_incorrect": 2,
    },
    "rmbench": {"id": 1, "prompt": "q", "chosen": ["x"] * 3, "rejected": ["y"] * 3},
    "trl-completions": {"prompt": "q", "completion": "x"},
    "lm-eval-samples": {
        "doc_id": 0,
        "arguments": {"gen_args_0": {"arg_0": "q", "arg_1": {"until": []}}},
        "resps": [["x"]],
    },
    "table": {"query": "q", "response_a": "x", "response_b": "y", "label": "a"},
}
MISSING = object()

# format, what is changed in a good row, the field that is to blame, what is said about it
BAD: list[tuple[str, dict[str, Any], str, str]] = [
    ("native", {"query": MISSING}, "query", "is missing; expected a string"),
    ("native", {"query": None}, "query", "expected a string, found NoneType"),
    ("native", {"query": 5}, "query", "expected a string, found int 5"),
    ("native", {"query": ""}, "query", "the query is empty"),
    ("native", {"query": " \n\t"}, "query", "the query is empty"),
    ("native", {"responses": MISSING}, "response", "is missing; expected a string"),
    ("native", {"responses": MISSING, "response": 1}, "response", "expected a string"),
    ("native", {"responses": "x"}, "responses", "expected a list of responses, found str"),
    ("native", {"responses": {"text": "x"}}, "responses", "expected a list of responses"),
    ("native", {"responses": []}, "responses", "expected at least one response"),
    ("native", {"responses": ["x", None]}, "responses[1]", "expected a string"),
    ("native", {"responses": [5]}, "responses[0]", "expected a string, found int"),
    ("native", {"responses": [{"txt": "x"}]}, "responses[0]", "expected a string"),
    ("native", {"responses": [{"text": "x", "logprob": "-1"}]}, "responses[0].logprob", "a number"),
    ("native", {"responses": [{"text": "x", "logprob": True}]}, "responses[0].logprob", "a number"),
    (
        "native",
        {"responses": ["x", {"text": "y", "reference_score": []}]},
        "responses[1].reference_score",
        "expected a number",
    ),
    ("native", {"responses": [{"text": "x", "logprob": -1e200}]}, "responses[0].logprob", "1e+100"),
    (
        "native",
        {"responses": ["x", {"text": "y", "reference_score": 1e101}]},
        "responses[1].reference_score",
        "expected a number from -1e+100 to 1e+100, found 1e+101",
    ),
    ("native", {"meta": {"reference_scores": ["a", 1]}}, "meta.reference_scores[0]", "found 'a'"),
    ("native", {"meta": {"reference_scores": [1, True]}}, "meta.reference_scores[1]", "found True"),
    ("native", {"meta": {"reference_scores": [1, -1e101]}}, "meta.reference_scores[1]", "1e+100"),
    (
        "native",
        {"meta": {"reference_scores": [1, 2, 3]}},
        "meta.reference_scores",
        "expected a list of 2 values, found 3",
    ),
    ("native", {"meta": {"reference_scores": 1}}, "meta.reference_scores", "found int"),
    ("native", {"meta": {"models": ["m"]}}, "meta.models", "list of 2 values, found 1"),
    ("native", {"meta": {"models": "mn"}}, "meta.models", "list of 2 values, found str"),
    ("native", {"meta": {"models": ["m", 5]}}, "meta.models[1]", "expected a string, found 5"),
    ("native", {"responses": [{"text": "x", "model": 5}]}, "responses[0].model", "a string"),
    ("native", {"responses": MISSING, "response": "x", "model": []}, "model", "a string"),
    ("native", {"label": "D"}, "label", 'expected "a", "b", "tie" or a number'),
    ("native", {"label": True}, "label", 'expected "a", "b", "tie" or a number'),
    ("native", {"label": ["a"]}, "label", 'expected "a", "b", "tie" or a number'),
    ("native", {"label": 0}, "label", 'expected "a", "b" or "tie" for a pair, found 0'),
    ("native", {"id": []}, "id", "expected a string, found list"),
    ("native", {"id": True}, "id", "expected a string, found bool"),
    ("native", {"scenario": 5}, "scenario", "expected a string"),
    ("native", {"source": 5}, "source", "expected a string"),
    ("native", {"meta": "x"}, "meta", "expected an object"),
    ("native", {"history": [{"role": "user"}]}, "history", "cannot be judged yet"),
    ("autoj-pairwise", {"prompt": MISSING}, "prompt", "is missing"),
    ("autoj-pairwise", {"prompt": " "}, "query", "the query is empty"),
    ("autoj-pairwise", {"response 1": MISSING}, "response 1", "is missing"),
    ("autoj-pairwise", {"response 2": None}, "response 2", "expected a string"),
    ("autoj-pairwise", {"label": 3}, "label", "expected 0 (first), 1 (second) or 2 (tie), found 3"),
    ("autoj-pairwise", {"label": -1}, "label", "found -1"),
    ("autoj-pairwise", {"label": "1"}, "label", "found '1'"),
    ("autoj-pairwise", {"label": 1.0}, "label", "found 1.0"),
    ("autoj-pairwise", {"label": True}, "label", "found True"),
    ("autoj-pairwise", {"scenario": []}, "scenario", "expected a string"),
    ("autoj-critique", {"prompt": 5}, "prompt", "expected a string"),
    ("autoj-critique", {"response": None}, "response", "expected a string"),
    ("autoj-critique", {"critiques": ["c"]}, "critiques", "expected an object, found list"),
    ("autoj-critique", {"critiques": {"me": 5}}, "critiques.me", "expected a string"),
    ("autoj-independent", {"output": 5}, "output", "expected a string"),
    ("autoj-independent", {"meta": []}, "meta", "expected an object, found list"),
    ("autoj-independent", {"meta": {"response": "x"}}, "prompt", "is missing"),
    ("autoj-independent", {"meta": {"prompt": "q"}}, "response", "is missing"),
    ("autoj-training", {"usrmsg": MISSING}, "usermsg", "is missing"),
    ("autoj-training", {"usrmsg": 5}, "usrmsg", "expected a string"),
    ("autoj-training", {"usrmsg": "Hello"}, "usrmsg", "has no [Query]"),
    ("autoj-training", {"usrmsg": PROMPT.replace("Query", "Q")}, "usrmsg", "has no [Query]"),
    ("autoj-training", {"gt_label": 3}, "gt_label", "expected 0, 1 or 2, found 3"),
    ("autoj-training", {"gt_label": 1.0}, "gt_label", "expected 0, 1 or 2, found 1.0"),
    ("autoj-training", {"gt_label": True}, "gt_label", "expected 0, 1 or 2, found True"),
    ("autoj-training", {"gt_label": None}, "gt_label", "expected 0, 1 or 2, found None"),
    ("autoj-training", {"pred_score": "nan"}, "pred_score", "expected a rating, found 'nan'"),
    ("autoj-training", {"pred_score": [5]}, "pred_score", "expected a rating"),
    ("autoj-training", {"source_dataset": 5}, "source_dataset", "expected a string"),
    ("autoj-scenarios", {"category": 5}, "category", "expected a string"),
    ("autoj-scenarios", {"instruction": " "}, "query", "the query is empty"),
    ("autoj-scenarios", {"input": 5}, "input", "expected a string"),
    ("autoj-selection", {"prompt": 5}, "prompt", "expected a string"),
    ("autoj-selection", {"outputs": {}}, "outputs", "at least one base model"),
    ("autoj-selection", {"outputs": {"m": []}}, "outputs.m", "expected an object"),
    ("autoj-selection", {"outputs": {"m": {}}}, "outputs.m.outputs", "expected a list"),
    (
        "autoj-selection",
        {"outputs": {"m": {"outputs": [5]}}},
        "outputs.m.outputs[0]",
        "expected a string",
    ),
    (
        "autoj-selection",
        {"outputs": {"m": {"outputs": ["x"], "logprobs": [1, 2]}}},
        "outputs.m.logprobs",
        "expected a list of 1 numbers",
    ),
    ("alpaca-eval-annotations", {"preference": MISSING}, "preference", "is missing"),
    ("alpaca-eval-annotations", {"preference": 3}, "preference", "a number from 1 to 2, found 3"),
    ("alpaca-eval-annotations", {"preference": True}, "preference", "found True"),
    ("alpaca-eval-annotations", {"output_2": None}, "output_2", "expected a string"),
    ("alpaca-eval-annotations", {"generator_1": 5}, "generator_1", "expected a string"),
    ("alpaca-eval-outputs", {"output": None}, "output", "expected a string"),
    ("alpaca-eval-outputs", {"generator": 5}, "generator", "expected a string"),
    ("alpaca-eval-outputs", {"pid": 1.5}, "pid", "expected a number"),
    ("arena-hard-answers", {"uid": 1.5}, "uid", "expected a string"),
    ("arena-hard-answers", {"messages": "q"}, "messages", "a list of messages"),
    ("arena-hard-answers", {"messages": []}, "messages", "turns of the user and the assistant"),
    ("arena-hard-answers", {"messages": TURN[:1]}, "messages", "turns of the user and"),
    ("arena-hard-answers", {"messages": [{"role": "cat"}]}, "messages[0]", "role and content"),
    (
        "arena-hard-answers",
        {"messages": [TURN[0], {"role": "assistant", "content": {"answer": None}}]},
        "messages[1].content",
        "expected a string, found NoneType",
    ),
    ("evalbiasbench", {"label": 0}, "label", "expected 1 (a), 2 (b), found 0"),
    ("evalbiasbench", {"label": MISSING}, "label", "is missing; expected 1 (a), 2 (b)"),
    ("evalbiasbench", {"bias": None}, "bias", "expected a string"),
    ("gsm8k", {"question": None}, "question", "expected a string"),
    ("gsm8k", {"answer": "1+1 = 2\n####"}, "answer", 'no result after "####"'),
    ("hhh", {"input": 5}, "input", "expected a string"),
    ("hhh", {"target_scores": ["x", "y"]}, "target_scores", "expected an object"),
    ("hhh", {"target_scores": {"x": 1, "y": 1}}, "target_scores", "one with 1 (right)"),
    ("hhh", {"target_scores": {"x": 1}}, "target_scores", "expected two choices"),
    ("hhh", {"target_scores": {"x": True, "y": False}}, "target_scores", "two choices"),
    ("hhh", {"target_scores": {"x": 1, "y": 0, "z": 0}}, "target_scores", "two choices"),
    (
        "chatbot-arena",
        {"winner": MISSING},
        "winner",
        "\"model_b\" or \"tie\"; the row has 'question_id', 'model_a'",
    ),
    ("chatbot-arena", {"winner": "model_c"}, "winner", "found 'model_c'"),
    ("chatbot-arena", {"winner": 5}, "winner", "found 5"),
    ("chatbot-arena", {"conversation_a": MISSING}, "conversation_a", "is missing"),
    ("chatbot-arena", {"conversation_a": TURN[:1]}, "conversation_a", "to be the assistant's"),
    ("chatbot-arena", {"conversation_a": TURN[1:]}, "conversation_a", "to be the user's"),
    (
        "chatbot-arena",
        {"conversation_b": [{"role": "system", "content": "s"}, *TURN]},
        "conversation_b",
        "begin with a question and its answer",
    ),
    ("chatbot-arena", {"conversation_b": ASKED}, "conversation_b", "another query"),
    ("chatbot-arena", {"model_a": 5}, "model_a", "expected a string"),
    ("chatbot-arena", {"language": 5}, "language", "expected a string"),
    ("chatbot-arena", {"question_id": []}, "question_id", "expected a string"),
    (
        "summarize-from-feedback",
        {"info": {"text": "p", "title": "t"}},
        "info.post",
        "is missing; expected a string; the row has 'text', 'title'",
    ),
    ("summarize-from-feedback", {"info": {"post": 5}}, "info.post", "expected a string"),
    ("summarize-from-feedback", {"info": None}, "info", "expected an object"),
    ("summarize-from-feedback", {"choice": MISSING}, "choice", "is missing; expected 0 (a), 1 (b)"),
    ("summarize-from-feedback", {"choice": 2}, "choice", "found 2"),
    ("summarize-from-feedback", {"summaries": COMPARED[:1]}, "summaries", "two summaries, found 1"),
    ("summarize-from-feedback", {"summaries": COMPARED * 2}, "summaries", "found 4"),
    (
        "summarize-from-feedback",
        {"summaries": [COMPARED[0], {"summary": "y"}]},
        "summaries[1].text",
        "is missing; expected a string; the row has 'summary'",
    ),
    ("summarize-from-feedback", {"summaries": ["x", "y"]}, "summaries[0]", "text and policy"),
    (
        "webgpt-comparisons",
        {"question": {"text": "q"}},
        "question.full_text",
        "is missing; expected a string; the row has 'text'",
    ),
    ("webgpt-comparisons", {"question": "q"}, "question", "expected an object, found str"),
    (
        "webgpt-comparisons",
        {"score_1": MISSING, "score_B": 1},
        "score_1",
        "'answer_0', 'score_0', 'answer_1', 'score_B'",
    ),
    ("webgpt-comparisons", {"score_0": 3}, "score_0", "from -1 to 1, found 3"),
    ("webgpt-comparisons", {"score_0": "1"}, "score_0", "a number from -1 to 1, found str"),
    ("webgpt-comparisons", {"answer_0": None}, "answer_0", "expected a string"),
    (
        "shp",
        {"human_ref_A": MISSING, "response_A": "x"},
        "human_ref_A",
        "the row has 'post_id', 'history', 'human_ref_B', 'labels', 'response_A'",
    ),
    ("shp", {"labels": 2}, "labels", "expected 1 (a), 0 (b), found 2"),
    ("shp", {"labels": True}, "labels", "found True"),
    ("shp", {"history": " "}, "query", "the query is empty"),
    ("shp", {"domain": 5}, "domain", "expected a string"),
    ("safe-rlhf", {"better_response_id": -1}, "better_response_id", "0 (a), 1 (b), found -1"),
    (
        "safe-rlhf",
        {"better_response_id": MISSING, "safer_response_id": 1},
        "better_response_id",
        "is missing",
    ),
    ("safe-rlhf", {"safer_response_id": 5}, "safer_response_id", "found 5"),
    ("safe-rlhf", {"response_1": None}, "response_1", "expected a string"),
    ("sharegpt", {"conversations": []}, "conversations", "no question of the user"),
    ("sharegpt", {"conversations": ["q"]}, "conversations[0]", "with from and value"),
    (
        "sharegpt",
        {"conversations": [{"role": "user", "content": "q"}]},
        "conversations[0].from",
        "is missing; expected a string; the row has 'role', 'content'",
    ),
    ("sharegpt", {"conversations": [{"from": "human", "value": " "}]}, "query", "query is empty"),
    ("sharegpt", {"id": "abcdefg_12"}, "id", "a later part"),
    ("sharegpt", {"id": []}, "id", "expected a string"),
    (
        "sharegpt",
        {"conversations": [{"from": "gpt", "value": "x"}, {"from": "human", "value": "q"}]},
        "conversations[0]",
        "an answer comes before the first question",
    ),
    ("llmbar", {"label": 3}, "label", "expected 1 (a), 2 (b), found 3"),
    ("llmbar", {"label": "1"}, "label", "found '1'"),
    ("llmbar", {"label": True}, "label", "found True"),
    ("llmbar", {"output_2": 5}, "output_2", "expected a string"),
    ("mt-bench-votes", {"turn": 2}, "turn", "several turns cannot be judged yet"),
    ("mt-bench-votes", {"turn": MISSING}, "turn", "is missing"),
    ("mt-bench-votes", {"winner": MISSING}, "winner", "'model_a' (first)"),
    ("mt-bench-votes", {"winner": "A"}, "winner", "found 'A'"),
    ("mt-bench-votes", {"conversation_a": TURN[:1]}, "conversation_a[1]", "of the assistant"),
    ("mt-bench-votes", {"conversation_a": TURN[1:]}, "conversation_a[0]", "of the user"),
    ("mt-bench-votes", {"conversation_a": "q"}, "conversation_a", "a list of messages"),
    ("mt-bench-votes", {"conversation_b": ASKED}, "conversation_b", "another query"),
    ("pandalm", {"annotator2": MISSING}, "annotator2", "is missing; expected 1 (first)"),
    ("pandalm", {"annotator2": 3}, "annotator2", "found 3"),
    ("pandalm", {"annotator2": "garbage"}, "annotator2", "found 'garbage'"),
    ("pandalm", {"response1": 5}, "response1", "expected a string"),
    ("pandalm", {"idx": []}, "idx", "expected a number"),
    ("reward-bench", {"prompt": MISSING}, "prompt", "is missing"),
    ("reward-bench", {"chosen": 5}, "chosen", "a string or a list of messages"),
    ("reward-bench", {"chosen": [{"role": "user"}]}, "chosen[0]", "role and content"),
    ("reward-bench", {"chosen": TURN[:1]}, "chosen", "last message to be the assistant's"),
    ("reward-bench", {"chosen": TURN[1:] + TURN}, "chosen", "first message to be the user's"),
    ("reward-bench", {"chosen": TURN, "rejected": ASKED}, "rejected", "another conversation"),
    ("reward-bench", {"prompt": TURN[1:]}, "chosen", "first message to be the user's"),
    ("reward-bench", {"chosen": [{"role": "tool", "content": "x"}]}, "chosen[0].role", "'tool'"),
    ("reward-bench", {"chosen_model": 5}, "chosen_model", "expected a string"),
    ("reward-bench", {"id": []}, "id", "expected a string"),
    ("reward-bench-2", {"prompt": []}, "prompt", "expected a string"),
    ("reward-bench-2", {"chosen": []}, "chosen", "at least one response, found none"),
    ("reward-bench-2", {"chosen": "x"}, "chosen", "expected a list of strings, found str"),
    ("reward-bench-2", {"rejected": MISSING}, "rejected", "is missing"),
    ("reward-bench-2", {"rejected": ["y", None]}, "rejected[1]", "expected a string, found None"),
    ("reward-bench-2", {"rejected": ["y"]}, "rejected", "expected 2 responses (num_incorrect)"),
    ("reward-bench-2", {"id": []}, "id", "expected a string"),
    ("rmbench", {"prompt": 5}, "prompt", "expected a string"),
    ("rmbench", {"chosen": ["x"]}, "chosen", "expected three strings"),
    ("rmbench", {"rejected": ["x", "y", 5]}, "rejected", "expected three strings"),
    ("rmbench", {"rejected": "y"}, "rejected", "expected a list of three strings"),
    ("rmbench", {"domain": 5}, "domain", "expected a string"),
    ("table", {"query": " "}, "query", "the query is empty"),
    ("table", {"response_b": None}, "response_b", "expected a string, found NoneType"),
    ("table", {"label": "d"}, "label", 'expected "a", "b", "tie", a model or a column'),
    ("table", {"label": "1"}, "label", "--map label=label:1/2/0"),
    ("table", {"scenario": []}, "scenario", "expected a string, found list"),
    ("table", {"id": True}, "id", "expected a string, found bool"),
    ("table", {"label": ["a"]}, "label", "found list"),
    ("trl-completions", {"completion": 5}, "completion", "a string or a list of messages"),
    ("trl-completions", {"prompt": [{"role": "user"}]}, "prompt[0]", "role and content"),
    ("trl-completions", {"completion": []}, "completion", "last message to be the assistant's"),
    ("trl-completions", {"prompt": TURN[1:]}, "completion", "first message to be the user's"),
    ("trl-completions", {"prompt": " "}, "query", "the query is empty"),
    ("trl-completions", {"id": []}, "id", "expected a string"),
    ("lm-eval-samples", {"doc_id": 1.5}, "doc_id", "expected a number"),
    ("lm-eval-samples", {"arguments": {}}, "arguments", "a request with its prompt"),
    ("lm-eval-samples", {"arguments": [[5]]}, "arguments", "a request with its prompt"),
    ("lm-eval-samples", {"resps": []}, "resps", "holds 0 requests"),
    ("lm-eval-samples", {"resps": [[["-1.5", "False"]]]}, "resps", "not log-likelihoods"),
    ("lm-eval-samples", {"resps": [["x"], ["y"]]}, "resps", "that compares log-likelihoods"),
]


def changed(name: str, change: dict[str, Any]) -> dict[str, Any]:
    row = {**GOOD[name], **change}
    return {field: value for field, value in row.items() if value is not MISSING}


@pytest.mark.parametrize(("name", "change", "field", "said"), BAD)
def test_a_bad_row_is_told_with_its_place_and_the_others_are_read(
    tmp_path: Path, name: str, change: dict[str, Any], field: str, said: str
) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [GOOD[name], changed(name, change), GOOD[name]]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    first, *between, last = open_cases(path, name).read()
    (wrong,) = (row for row in between if row.line == 2)
    assert isinstance(first.case, Case)
    assert isinstance(last.case, Case)
    error = wrong.case
    assert isinstance(error, DataError)
    assert (error.path, error.line, error.field) == (path, 2, field)
    assert str(error).startswith(f"{path}:2:{field}: ")
    assert said in error.reason


@pytest.mark.parametrize("written", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_json_lacks_are_told(tmp_path: Path, written: str) -> None:
    path = tmp_path / "rows.jsonl"
    row = '{"query": "q", "responses": ["x", "y"], "meta": {"reference_scores": [1, %s]}}'
    path.write_text(row % written, encoding="utf-8")
    (found,) = open_cases(path, "native").read()
    assert isinstance(found.case, DataError)
    assert (found.case.path, found.case.line) == (path, 1)


def test_what_meta_says_of_responses_is_kept_and_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    row = {**GOOD["native"], "meta": {"reference_scores": [1, None], "models": [None, "m"]}}
    path.write_text(json.dumps(row), encoding="utf-8")
    (found,) = open_cases(path).read()
    assert isinstance(found.case, Case)
    assert [response.reference_score for response in found.case.responses] == [1.0, None]
    assert [response.model for response in found.case.responses] == [None, "m"]


def test_bad_rows_of_each_format_are_tested() -> None:
    assert {name for name, *_ in BAD} == set(GOOD) == set(format_names())


@pytest.mark.parametrize("kind", [str, int, list, dict, bool, float])
@pytest.mark.parametrize("name", format_names())
def test_a_field_of_whatever_type_is_told_or_kept(tmp_path: Path, name: str, kind: type) -> None:
    path = tmp_path / "rows.jsonl"
    known = {
        field
        for line in (FILES / f"{name}.jsonl").read_bytes().splitlines()
        for field in json.loads(line)
    }
    rows = [{**GOOD[name], field: kind()} for field in sorted(known)]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    read = list(open_cases(path, name).read())
    assert {row.line for row in read} == set(range(1, len(rows) + 1))
    for row in read:
        # What is read as a case can be kept in a run, so nothing of a wrong type went through.
        if isinstance(row.case, Case):
            assert jsonl.decode_as(Case, jsonl.encode(row.case)) == row.case


def test_a_long_value_is_shown_in_part(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps({"query": ["x" * 10_000], "response": "r"}), encoding="utf-8")
    (row,) = open_cases(path).read()
    assert len(str(row.case)) < len(str(path)) + 200
