"""Experiments with people's judgements, under their documented name."""

import sys

from .plugins import agreement

sys.modules[__name__] = agreement
