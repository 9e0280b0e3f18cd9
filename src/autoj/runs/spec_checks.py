"""Checks of a run's settings: one source, a trained judge's own prompts, samples that differ."""

from collections.abc import Mapping

from autoj.errors import ConfigError
from autoj.protocols import digest_prompts, load_shipped, protocols_of
from autoj.protocols.base import JudgeProtocol, Subject
from autoj.records import Case, Decoding, JudgeCard, Response

# A request shows whether a protocol asks for a text; the case does not matter.
_ANY_CASE = Case(
    id="any",
    query="Why?",
    cluster="why",
    responses=(Response(text="a"), Response(text="b")),
    critiques=("a", "b"),
    scenario="others",
    reference="a",
)


def check_one(given: Mapping[str, object], *, least: int = 1, reason: str = "") -> None:
    """Refuses several of some settings, or none, where one is to be chosen.

    Args:
        given: the values by their flags' names; None where one is not given.
        least: 0 where none may be given, too.
        reason: the end of the message.

    Raises:
        ConfigError: several are given, or none.
    """
    if not least <= sum(value is not None for value in given.values()) <= 1:
        *names, last = given
        raise ConfigError(f"give one of {', '.join(names)} and {last}{reason}")


def check_draws(card: JudgeCard, chosen: JudgeProtocol, decoding: Decoding, n_draws: int) -> None:
    """Refuses samples that would all be the same."""
    if n_draws < 1 or decoding.temperature < 0:
        setting = f"--samples {n_draws}" if n_draws < 1 else f"--temperature {decoding.temperature}"
        least = "1" if n_draws < 1 else "0"
        raise ConfigError(f"{setting} is too low: the least is {least}")
    if n_draws == 1:
        return
    if not _is_written(chosen):
        others = _writing_protocols(card, chosen.subject)
        raise ConfigError(
            f"--samples {n_draws} would repeat the same answer: protocol {chosen.name!r} scores "
            "choices and samples no text",
            hint=f"Use one that writes: --protocol {' or '.join(others)}." if others else None,
        )
    if decoding.temperature == 0:
        raise ConfigError(
            f"--samples {n_draws} at temperature 0 would give the same text {n_draws} times",
            hint="Add --temperature 0.7, or leave --samples out.",
        )


def check_second_order(
    chosen: JudgeProtocol,
    orders: str,
    samples: int | None,
    second_order: str | None,
    always_full: float | None,
) -> None:
    """Refuses to save second orders where there are none, or where no first one is ever unsure."""
    if second_order is None:
        if always_full is not None:
            raise ConfigError(
                "--always-full is the share of pairs that is asked in full where --second-order or "
                "--escalate saves questions; neither is given"
            )
        return
    if chosen.reads_alone or chosen.subject != "pair" or orders != "both":
        why = (
            f"protocol {chosen.name!r} rates each response alone"
            if chosen.reads_alone
            else "there is one order alone"
        )
        raise ConfigError(f"--second-order {second_order} saves nothing here: {why}")
    if not chosen.gives_probabilities or (samples or 1) > 1:
        raise ConfigError(
            f"--second-order {second_order} needs the probabilities of the first order, and "
            + (
                "--samples gives none"
                if chosen.gives_probabilities
                else f"protocol {chosen.name!r} gives none"
            ),
            hint="pairwise-verdict gives some, without --samples.",
        )


def check_lock(card: JudgeCard, chosen: JudgeProtocol) -> None:
    """Refuses to ask a trained judge questions that it was not trained on."""
    if card.prompts_sha256 is None:
        return
    if chosen.name not in card.protocols:
        raise ConfigError(
            f"judge {card.name!r} was trained on {', '.join(card.protocols)}, and not on protocol "
            f"{chosen.name!r}",
            hint="Other prompts are for general models, such as embedded-base or openai:MODEL.",
        )
    known = [load_shipped(name) for name in card.protocols]
    if digest_prompts(card.wrapper, known) != card.prompts_sha256:
        raise ConfigError(
            f"judge {card.name!r} was trained on other prompts than this version of autoj builds "
            f"with wrapper {card.wrapper!r} and protocols {', '.join(card.protocols)}",
            hint="Train it again, or judge with the version of autoj that trained it. If the card "
            "was edited, undo that.",
        )


def check_critic(critic: JudgeCard, chosen: JudgeProtocol, critique: bool | None) -> None:
    """Refuses a critic where no critique is asked for after the verdict, or it cannot write one."""
    if critique is False:
        raise ConfigError("--critic writes critiques, and --no-critique asks for none")
    if _is_written(chosen) or not chosen.gives_probabilities:
        raise ConfigError(
            f"--critic cannot be used with protocol {chosen.name!r}: its judge writes the critique "
            "before the verdict, or none at all",
            hint="Use a verdict-only protocol, such as pairwise-verdict or single-verdict.",
        )
    check_lock(critic, chosen)


def _writing_protocols(card: JudgeCard, subject: Subject) -> list[str]:
    """The card's protocols for the same subject that generate text."""
    known = protocols_of(card)
    return [other.name for other in known if other.subject == subject and _is_written(other)]


def _is_written(protocol: JudgeProtocol) -> bool:
    """True where a text is generated: no choices, and not the score of a completed turn."""
    page = () if protocol.subject == "query" else (0,) if protocol.reads_alone else (0, 1)
    body = protocol.build(_ANY_CASE, page)
    return body.choices is None and body.messages[-1].role != "assistant"
