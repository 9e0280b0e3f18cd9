"""The Hugging Face Hub, asked once whether it answers, and what is never taken from it unasked."""

import http.client
import urllib.error
import urllib.request
from typing import Any

from autoj import trust
from autoj.errors import ConfigError, Unavailable
from autoj.records import JudgeCard

_SECONDS = 3.0


def why_unreached() -> str | None:
    """The reason why the Hub cannot be asked; None where it answers.

    Without a network its client tries every file six times, which takes a minute.
    """
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return "HF_HUB_OFFLINE is set"
    request = urllib.request.Request(constants.ENDPOINT, method="HEAD")
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS):
            return None
    except urllib.error.HTTPError:  # it answers
        return None
    except (OSError, ValueError, http.client.HTTPException) as error:
        cause = getattr(error, "reason", error)
        return str(getattr(cause, "strerror", None) or cause)


def find_in_hub(card: JudgeCard) -> str | None:
    """Asks whether the Hub answers, before anything heavy is imported.

    Returns:
        The reason why only the cache can be looked into; None where the Hub answers.

    Raises:
        Unavailable: it does not answer, and its cache does not have the card's model.
    """
    from huggingface_hub import try_to_load_from_cache

    unreached = why_unreached()
    if unreached is None:
        return None
    try:
        found = try_to_load_from_cache(card.model, "config.json", revision=card.revision)
    except ValueError:  # no name that the Hub could have
        found = None
    if not isinstance(found, str):
        raise not_cached(card, unreached)
    return unreached


def hub_arguments(revision: str | None, *, local: bool, unreached: str | None) -> dict[str, Any]:
    """Arguments of `from_pretrained`: the revision, the places, and whose code may run.

    Args:
        revision: the card's; a local folder has none.
        local: True where the model is a folder.
        unreached: from `find_in_hub`; then only the cache is looked into.
    """
    where: dict[str, Any] = {
        "local_files_only": local or unreached is not None,
        "trust_remote_code": trust.runs_remote_code(),
    }
    if not local:
        where["revision"] = revision
    return where


def not_cached(card: JudgeCard, unreached: str) -> Unavailable:
    """The error where a model is not in the cache and the Hub cannot be asked."""
    return Unavailable(
        f"the Hugging Face Hub cannot be reached ({unreached}), and its cache has no model "
        f"{card.model!r}",
        hint="Try again with a network, or give the path of a local folder.",
    )


def needs_remote_code(card: JudgeCard, error: BaseException) -> ConfigError | None:
    """The error where a model wants to run code of its own; None for another error."""
    if "trust_remote_code=True" not in str(error):
        return None
    return ConfigError(
        f"{card.model} comes with code of its own, which is not run",
        hint="If you trust its authors: autoj --trust-remote-code …",
    )
