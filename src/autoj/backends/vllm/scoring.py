"""Scores choices with vLLM, by log-probabilities of prompt tokens.

A choice is scored as a whole string: it is part of the prompt, and the log-probabilities of its
tokens are summed. There are two ways to ask.

- **By rows.** One request reads the prompt and a branch of its choices' trie, and lists the wanted
tokens at each position below the prompt (`prompt_logprob_token_ids`). Most choices have one or two
branches, so that a verdict reads the prompt once. It needs vLLM's second model runner, the default
since its introduction. - **By wholes.** One request per choice with `prompt_logprobs=0`: the
log-probability of each prompt token. This is for vLLM's first model runner.

A prompt's logits are not cached with its KV cache. So vLLM reads a prompt again where its
log-probabilities are asked for (`skip_reading_prefix_cache`, vllm#13414); where it did not, those
of the cached part were missing or left over from other requests (vllm#8268, vllm#42019). By wholes
this is left on. By rows only the last few positions are needed, and earlier ones may come from the
cache: the second runner returns nothing where the cache reaches beyond the first row, and then the
request is repeated without it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autoj.backends._choices import ChoiceTrie


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A request to vLLM for log-probabilities of its last tokens."""

    tokens: tuple[int, ...]
    wanted: tuple[tuple[int, ...], ...] = ()
    """By rows: per position from the root's last token, the tokens whose log-probability follows
    it; equally many everywhere, padded with -1."""
    nodes: tuple[int, ...] = ()
    """By rows: the trie's inner node at each position, -1 for the root's last token."""

    @property
    def start(self) -> int:
        """By rows: the first position."""
        return len(self.tokens) - 1 - len(self.wanted)


def by_rows(trie: ChoiceTrie) -> list[Prompt]:
    """One prompt per branch of the trie.

    >>> trie = ChoiceTrie((7,), (1, 0), (-1, 0), (((-1, 1), (0, 9)), ((-1, 1), (0, 0), (1, 9))))
    >>> by_rows(trie)[0].tokens, by_rows(trie)[0].wanted
    ((7, 1, 0, 7), ((1, -1), (0, 9), (9, -1)))
    """
    following: dict[int, set[int]] = {node: set() for node in range(-1, len(trie.tokens))}
    for steps in trie.steps:
        for node, token in steps:
            following[node].add(token)
    width = max(map(len, following.values()))
    leaves = sorted(set(range(len(trie.tokens))) - set(trie.parents))
    lines = trie.ancestors()
    prompts: list[Prompt] = []
    for line in [lines[leaf] for leaf in leaves] or [[]]:
        nodes = (-1, *line)
        prompts.append(
            Prompt(
                # The last position of a prompt has no row; any token may follow those with one.
                tokens=(*trie.root, *(trie.tokens[node] for node in line), trie.root[-1]),
                wanted=tuple(_filled(sorted(following[node]), width) for node in nodes),
                nodes=nodes,
            )
        )
    return prompts


def _filled(tokens: Sequence[int], width: int) -> tuple[int, ...]:
    return (*tokens, *[-1] * (width - len(tokens)))


def read_rows(trie: ChoiceTrie, prompts: Sequence[Prompt], answers: Sequence[Any]) -> list[float]:
    """The log-probability of each choice.

    Args:
        trie: the trie of the choices.
        prompts: from `by_rows`.
        answers: per prompt, `prompt_token_id_logprobs` [n_rows, n_tokens].
    """
    known: dict[tuple[int, int], float] = {}
    for prompt, rows in zip(prompts, answers, strict=True):
        for node, wanted, row in zip(prompt.nodes, prompt.wanted, rows, strict=True):
            for token, logprob in zip(wanted, row, strict=True):
                known.setdefault((node, token), float(logprob))
    return [math.fsum(known[step] for step in steps) for steps in trie.steps]


def by_wholes(trie: ChoiceTrie) -> list[Prompt]:
    """One prompt per choice.

    >>> trie = ChoiceTrie((7,), (1, 0), (-1, 0), (((-1, 1), (0, 9)), ((-1, 1), (0, 0), (1, 9))))
    >>> [prompt.tokens for prompt in by_wholes(trie)]
    [(7, 1, 9), (7, 1, 0, 9)]
    """
    return [Prompt(tokens=(*trie.root, *(token for _, token in steps))) for steps in trie.steps]


def read_wholes(trie: ChoiceTrie, prompts: Sequence[Prompt], answers: Sequence[Any]) -> list[float]:
    """The log-probability of each choice.

    Args:
        trie: the trie of the choices.
        prompts: from `by_wholes`.
        answers: per prompt, `prompt_logprobs`: per token a map from tokens to log-probabilities.
    """
    n_root = len(trie.root)
    return [
        math.fsum(answer[at][prompt.tokens[at]].logprob for at in range(n_root, len(prompt.tokens)))
        for prompt, answer in zip(prompts, answers, strict=True)
    ]
