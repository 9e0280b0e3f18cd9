"""Bodies that trainers and routers send and are answered; fields we do not read are let through."""

import time
import uuid
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from autoj.serve.bodies import Component, Deadline, Name, Query, Text
from autoj.serve.problems import Problem

Texts = Annotated[list[Text], Field(min_length=1)]
_CHAT_TEXT = "<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\n"


class _Foreign(BaseModel):
    model_config = ConfigDict(extra="ignore")


class ChatPart(_Foreign):
    """A part of a message; only text can be judged."""

    type: Literal["text"]
    text: Text


class ChatMessage(_Foreign):
    """A message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: Text | list[ChatPart]


class ChatCase(BaseModel):
    """A case to judge: `a` and `b`, or `response`; in `extra_body` as `autoj`."""

    model_config = ConfigDict(extra="forbid")

    query: Query
    a: Text | None = None
    b: Text | None = None
    response: Text | None = None
    protocol: Component | None = None
    scenario: Name | None = None
    reference: Text | None = None


class ChatRequest(_Foreign):
    """A request for a chat completion, as OpenAI's clients send it."""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={"examples": [{"messages": [{"role": "user", "content": "Hello."}]}]},
    )

    model: Name | None = None
    messages: list[ChatMessage] = Field(min_length=1)
    autoj: ChatCase | None = None
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int | None = Field(None, ge=1, le=16_384)
    max_completion_tokens: int | None = Field(None, ge=1, le=16_384)
    seed: int | None = Field(None, ge=0, le=2**32 - 1)
    n: Literal[1] = 1
    stream: Literal[False] = False
    deadline_seconds: Deadline | None = None


class OpenRlhfRequest(_Foreign):
    """OpenRLHF's request to a remote reward model."""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={
            "examples": [
                {
                    "query": [_CHAT_TEXT + "Four.<|im_end|>"],
                    "prompts": [_CHAT_TEXT],
                    "labels": ["4"],
                }
            ]
        },
    )

    query: Texts
    prompts: list[Text | None] | None = None
    labels: list[Any] | None = None


class SlimeRequest(_Foreign):
    """slime's request to a remote reward model."""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={
            "examples": [{"prompt": "What is 2 + 2?", "response": "Four.", "label": "4"}]
        },
    )

    prompt: Text | list[ChatMessage]
    response: Text
    label: Any = None


class GymPart(_Foreign):
    """A part of a message."""

    text: Text = ""


class GymItem(_Foreign):
    """An item of an input or an output; only messages are read."""

    type: str | None = None
    role: str | None = None
    content: Text | list[GymPart] | None = None


class GymParameters(_Foreign):
    """The request that the policy was sent."""

    input: Text | list[GymItem]


class GymResponse(_Foreign):
    """The policy's response."""

    output: list[GymItem]


class VerifyRequest(BaseModel):
    """NeMo Gym's request to verify a response; all of it is sent back."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {
                    "responses_create_params": {"input": "What is 2 + 2?"},
                    "response": {"output": [{"role": "assistant", "content": "Four."}]},
                }
            ]
        },
    )

    responses_create_params: GymParameters
    response: GymResponse


class ScoreRequest(_Foreign):
    """vLLM's request to score documents for a query."""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={
            "examples": [{"queries": "What is 2 + 2?", "documents": ["Four.", "Five."]}]
        },
    )

    model: Name | None = None
    queries: Text | Texts | None = None
    text_1: Text | Texts | None = None
    data_1: Text | Texts | None = None
    documents: Text | Texts | None = None
    items: Text | Texts | None = None
    text_2: Text | Texts | None = None
    data_2: Text | Texts | None = None

    def pairs(self) -> list[tuple[str, str]]:
        """Each document with its query.

        Raises:
            Problem: one of them is missing, or their numbers do not fit.
        """
        first = self.queries or self.text_1 or self.data_1
        second = self.documents or self.items or self.text_2 or self.data_2
        for given, name in ((first, "queries"), (second, "documents")):
            if not given:
                raise Problem(status=422, field=name, detail=f"{name}: it is missing")
        queries = [first] if isinstance(first, str) else first or []
        texts = [second] if isinstance(second, str) else second or []
        if len(queries) == 1:
            queries = queries * len(texts)
        if len(queries) != len(texts):
            raise Problem(
                status=422,
                field="queries",
                detail=f"queries: {len(queries)}, for {len(texts)} documents; give one or as many",
            )
        return list(zip(queries, texts, strict=True))


class RerankRequest(_Foreign):
    """vLLM's request to rank documents for a query."""

    model_config = ConfigDict(
        extra="ignore",
        json_schema_extra={
            "examples": [{"query": "What is 2 + 2?", "documents": ["Five.", "Four."]}]
        },
    )

    model: Name | None = None
    query: Query
    documents: Texts
    top_n: int = Field(0, ge=0, description="The number of results; 0 gives all.")


class PoolingRequest(_Foreign):
    """verl's request to a reward model behind vLLM: prompts with their continuations."""

    model_config = ConfigDict(
        extra="ignore", json_schema_extra={"examples": [{"input": _CHAT_TEXT + "Four.<|im_end|>"}]}
    )

    model: Name | None = None
    input: Text | Texts


def pooled(kind: str, model: str, data: list[dict[str, Any]]) -> dict[str, Any]:
    """An answer of vLLM's endpoints for pooling models."""
    return {
        "id": f"{kind}-{uuid.uuid4().hex}",
        "object": "list",
        "created": int(time.time()),
        "model": model,
        "data": data,
        "usage": {"prompt_tokens": 0, "total_tokens": 0},
    }


def chat_completion(model: str, text: str, finish: str, counts: tuple[int, int]) -> dict[str, Any]:
    """An answer of OpenAI's endpoint; `counts` are tokens of the prompt and of the completion."""
    reason = "content_filter" if finish == "filtered" else finish
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": reason,
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": counts[0],
            "completion_tokens": counts[1],
            "total_tokens": sum(counts),
        },
    }
