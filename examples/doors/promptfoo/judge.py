"""What promptfoo calls: a provider, a transform and an assertion."""

from autoj.doors.promptfoo import call_api, get_assert, get_transform

__all__ = ["call_api", "get_assert", "get_transform"]
