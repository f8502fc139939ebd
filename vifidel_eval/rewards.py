"""Rewards for TRL and verl, under their documented name, by which verl loads them."""

from vifidel_eval.plugins.training.rewards import TrlReward, compute_score, trl_reward

__all__ = ["TrlReward", "compute_score", "trl_reward"]
