"""Choices as a token trie: a few extra tokens score every choice in one forward pass.

Tokenizers split choices unevenly: " Response 1" may be three tokens and " Tie" one, and "1" is the
beginning of "10". So each choice is tokenised together with the text before it; the tokens that all
share are the root, and the rest is a trie. Its inner nodes are appended to the prompt once; a mask
lets each attend to the prompt and its own ancestors only, and its position is its depth. One pass
then gives, at each inner node, the distribution of the next token.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChoiceTrie:
    """A prompt followed by the inner nodes of its choices' trie."""

    root: tuple[int, ...]
    """The tokens that all choices share: the prompt, and tokens that merge with it."""
    tokens: tuple[int, ...]
    """The token of each inner node below the root, parents before children."""
    parents: tuple[int, ...]
    """The index of each node's parent in `tokens`; -1 is the root's last token."""
    steps: tuple[tuple[tuple[int, int], ...], ...]
    """Per choice, its (node, next token) pairs; node -1 is the root's last token."""

    @property
    def n_tokens(self) -> int:
        """The length of the sequence that the model reads."""
        return len(self.root) + len(self.tokens)

    @property
    def is_chain(self) -> bool:
        """True where no node has two inner nodes below it, so that causal attention reads it right.

        >>> build_trie([[7, 1, 2], [7, 1, 3], [7, 4]]).is_chain
        True
        """
        return all(parent == node - 1 for node, parent in enumerate(self.parents))

    def depths(self) -> list[int]:
        """The depth of each inner node below the root's last token, from 1."""
        depths: list[int] = []
        for parent in self.parents:
            depths.append(1 if parent < 0 else depths[parent] + 1)
        return depths

    def ancestors(self) -> list[list[int]]:
        """Per inner node, the inner nodes that it may attend to: its ancestors and itself."""
        lines: list[list[int]] = []
        for node, parent in enumerate(self.parents):
            lines.append([node] if parent < 0 else [*lines[parent], node])
        return lines


def build_trie(sequences: Sequence[Sequence[int]]) -> ChoiceTrie:
    """Builds the trie of tokenised choices.

    Args:
        sequences: per choice, the tokens of the prompt, the prefix and the choice together.

    Raises:
        ValueError: two choices have the same tokens, or nothing is shared.

    >>> trie = build_trie([[7, 1, 9], [7, 1, 0, 9], [7, 2, 9]])
    >>> trie.root, trie.tokens, trie.parents
    ((7,), (1, 0, 2), (-1, 0, -1))
    >>> trie.steps[1]
    ((-1, 1), (0, 0), (1, 9))
    """
    if len({tuple(sequence) for sequence in sequences}) < len(sequences):
        raise ValueError("two choices have the same tokens")
    n_shared = _n_shared(sequences)
    if n_shared == 0:
        raise ValueError("the choices share no token to start from")
    tokens: list[int] = []
    parents: list[int] = []
    known: dict[tuple[int, ...], int] = {(): -1}
    steps: list[tuple[tuple[int, int], ...]] = []
    for sequence in sequences:
        tail = tuple(sequence[n_shared:])
        for length in range(1, len(tail)):
            if tail[:length] not in known:
                known[tail[:length]] = len(tokens)
                tokens.append(tail[length - 1])
                parents.append(known[tail[: length - 1]])
        steps.append(tuple((known[tail[:index]], token) for index, token in enumerate(tail)))
    return ChoiceTrie(
        root=tuple(sequences[0][:n_shared]),
        tokens=tuple(tokens),
        parents=tuple(parents),
        steps=tuple(steps),
    )


def _n_shared(sequences: Sequence[Sequence[int]]) -> int:
    shortest = min(len(sequence) for sequence in sequences)
    for position in range(shortest):
        if len({sequence[position] for sequence in sequences}) > 1:
            return position
    return shortest
