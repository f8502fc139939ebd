"""Captions in tables, under their documented name."""

from .plugins.tables import STATUSES, TableScorer, TableScores

__all__ = ["STATUSES", "TableScorer", "TableScores"]
