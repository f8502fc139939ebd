"""Captions in Spark's tables, under their documented name."""

from .plugins.tables import vifidel

__all__ = ["vifidel"]
