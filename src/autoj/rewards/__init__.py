"""Reward functions: a judge in the loop of a trainer. A judgment that failed is never a reward."""

from autoj.rewards.openrlhf import openrlhf_reward_func
from autoj.rewards.trl import AsyncTrlReward, TrlReward, trl
from autoj.rewards.verl import verl_compute_score

__all__ = [
    "AsyncTrlReward",
    "TrlReward",
    "openrlhf_reward_func",
    "trl",
    "verl_compute_score",
]
