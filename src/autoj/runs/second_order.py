"""Settings of a run that asks the second order of a pair only where the first one is unsure.

A share of the pairs, drawn at random, is asked in both orders whatever the first one says. The draw
is by a digest of the case's id: it depends on no answer, and a run that grows draws no case anew.
"""

import hashlib
import re
from dataclasses import dataclass

from autoj.errors import ConfigError
from autoj.records import Decision, Failure, JudgeCard, Judgment

ALWAYS_FULL = 0.1
"""The share of the pairs that is asked in full where nothing else is said."""

_UNSURE = re.compile(r"unsure(?::(?P<below>.+))?")
_DIGEST_VALUES = 2**64


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondOrder:
    """The pairs whose second order is asked."""

    below: float
    """The second order is asked where the first one's largest probability is lower, 0 to 1."""
    always_full: float = ALWAYS_FULL
    """The share of the pairs, 0 to 1, whose second order is asked whatever the first one says."""

    def wants(self, case_id: str, first: Judgment | Failure) -> bool:
        """True where the second order of a pair is asked.

        Args:
            case_id: the pair.
            first: the outcome of its first order. One that failed or cannot be read leaves the
                verdict open whatever a second order says, so that none is asked.
        """
        if is_drawn(case_id, self.always_full):
            return True
        confidence = order_confidence(first)
        return confidence is not None and confidence < self.below


def is_drawn(case_id: str, share: float) -> bool:
    """True where a case belongs to the random share that is asked in full.

    Args:
        case_id: the case.
        share: the share, 0 to 1; the cases of a smaller one are among those of a larger one.
    """
    digest = hashlib.sha256(f"always full {case_id}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) < share * _DIGEST_VALUES


def order_confidence(judgment: Judgment | Failure) -> float | None:
    """The largest probability of one order's decision, 0 to 1; None without probabilities."""
    if isinstance(judgment, Failure) or not isinstance(judgment.reading, Decision):
        return None
    probabilities = judgment.reading.probabilities
    return None if probabilities is None else max(probabilities)


def read_second_order(
    text: str, card: JudgeCard, protocol: str, always_full: float | None
) -> SecondOrder:
    """The settings that a flag's value states.

    Args:
        text: "unsure", which takes the threshold of the judge's card, or "unsure:0.8".
        card: the judge.
        protocol: the name of its protocol.
        always_full: the share of the pairs that is asked in full; None takes a tenth.

    Raises:
        ConfigError: the value is another, or the card has no threshold for the protocol.
    """
    found = _UNSURE.fullmatch(text)
    if found is None:
        raise ConfigError(
            f"--second-order {text!r} is not known",
            hint="It is unsure or, with a threshold of your own, unsure:0.8.",
        )
    stated, known = found["below"], card.unsure.get(protocol)
    if stated is not None:
        below = read_threshold(stated, f"--second-order {text}")
    elif known is not None:
        below = known.below
    else:
        raise ConfigError(
            f"the card of judge {card.name!r} says nothing of unsure verdicts by protocol "
            f"{protocol!r}, which --second-order unsure goes by",
            hint="State a threshold, such as unsure:0.8. `autoj plan RUN` fits one to a run in "
            "both orders.",
        )
    return SecondOrder(below=below, always_full=read_share(always_full))


def read_threshold(text: str, flag: str) -> float:
    """A confidence that a flag states.

    Args:
        text: the number.
        flag: the flag with its value, for the message.

    Raises:
        ConfigError: it is no number of 0 to 1.
    """
    try:
        below = float(text)
    except ValueError:
        below = -1.0
    if not 0 <= below <= 1:
        raise ConfigError(f"the threshold of {flag} must be a number from 0 to 1")
    return below


def read_share(always_full: float | None) -> float:
    """The share of the pairs that is asked in full.

    Raises:
        ConfigError: it is not from 0 to 1.
    """
    share = ALWAYS_FULL if always_full is None else always_full
    if not 0 <= share <= 1:
        raise ConfigError(f"--always-full {share:g} must be a share from 0 to 1")
    return share
