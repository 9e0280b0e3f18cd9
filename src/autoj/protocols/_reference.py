"""The reference answer of a case, for the protocols that judge by one."""

from autoj.errors import ConfigError
from autoj.records import Case


def reference_of(case: Case, protocol: str) -> str:
    """The reference answer that a case is judged by.

    Args:
        case: the case to judge.
        protocol: the protocol's name, for the message.

    Raises:
        ConfigError: the case has none.
    """
    if case.reference is None:
        raise ConfigError(
            f"case {case.id!r} has no reference answer, and protocol {protocol!r} judges by one",
            hint='Add a "reference" to its row, or use a protocol without references.',
        )
    return case.reference
