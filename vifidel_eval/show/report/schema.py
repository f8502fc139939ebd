"""The records in the data of the page: which numbers they hold, in which order.

Python writes the values of records of a kind one after the other (`numbers`), without names: the
page has very many. Scripts get the names from the page (`FIELDS`) and read the records by them
(`record` and `records` in base.js).

A label is a place in ``data.labels``, and a text a place in ``plans.texts``; -1 stands for none.
Masses, costs and penalties are whole numbers of `UNIT`; supports and P are hundredths, and -1 where
they are unknown.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from itertools import chain

#: The unit of masses, costs and penalties.
UNIT = 1e-5

#: An object label of an image.
LabelCount = namedtuple("LabelCount", "label count")
#: A box in thousandths of its picture; the score is in hundredths.
Box = namedtuple("Box", "label left top width height score")
#: What is known of a caption: numbers of records of the next four kinds.
Plan = namedtuple("Plan", "objects words mentions matches")
#: An object with a vector; `silent` if the caption does not mention it.
PlanObject = namedtuple("PlanObject", "text penalty silent")
#: A content word: its nearest evidence, and the place of its mention in the plan.
PlanWord = namedtuple("PlanWord", "text penalty support by mention")
#: A mention: its class, nearest evidence, verdict, who judges it, and what it is a kind of.
PlanMention = namedtuple("PlanMention", "text category support by verdict judge fits")
#: Mass that moves between an object and a word, which are places in the plan.
PlanMatch = namedtuple("PlanMatch", "object word mass cost")
#: A sentence, whether it claims anything, and numbers of `Span` of its inventions.
Sentence = namedtuple("Sentence", "start end claims p inventions")
#: Where something is in a caption, in UTF-16 units, which scripts count in.
Span = namedtuple("Span", "start end")
#: A test of two systems, and what remains at equal length where lengths differ: as text.
PairTest = namedtuple("PairTest", "p difference low high", defaults=(None, None, None))
#: Correlations of two metrics, as text.
Fit = namedtuple("Fit", "pearson spearman")

_KINDS = (LabelCount, Box, Plan, PlanObject, PlanWord, PlanMention, PlanMatch)
#: The names of each kind's fields, in their order.
FIELDS = {kind.__name__: kind._fields for kind in (*_KINDS, Sentence, Span, PairTest, Fit)}


def numbers(records: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the values of records of one kind, one record after the other."""
    return tuple(chain.from_iterable(records))  # of numbers alone: no work for garbage collection
