"""VIFIDEL-D: detail without invention, by what was looked for in the image."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..evaluation import Column
from ..kernels import fidelity
from ..kernels.bags import Part
from ..kernels.claims import ClaimsGold
from ..words.settings import ONLY_THINGS, THINGS
from ..words.word_vectors import VectorSource
from .explaining import EvidenceSettings
from .papers import VIFIDEL_EVAL
from .record import Metric
from .registry import register
from .vifidel_prf import ClaimScorer
from .word_vectors import Objects, Scored

if TYPE_CHECKING:
    from typing_extensions import Unpack

_KEPT = 0.8  # what an invention leaves of the score; settled in docs/fidelity.md


class VifidelD(ClaimScorer):
    """Detail without invention: which of the objects a caption mentions, less what it makes up.

    It is the square root of VIFIDEL-R without references (the share of the object labels that the
    caption mentions), times .8 for each thing that the labels deny; a thing mentioned twice counts
    once. It is in [0, 1], and an invention costs a fifth at any length. References are not read:
    they cannot deny what they do not mention. It is undefined for an image without labels, or if
    it is not known what was looked for, and 0 for a caption without a usable word.

    It is experimental: no human judgements support it yet.

    Examples
    --------
    >>> scorer = VifidelD()
    >>> captions = ["a dog", "a dog and a ball", "a dog, a ball and a zebra"]
    >>> objects = [{"dog": 1, "ball": 1, "zebra": 0}] * 3
    >>> scorer.score(captions, objects=objects).round(2).tolist()
    [0.74, 1.0, 0.8]
    """

    columns = (Column("VIFIDEL-D"),)
    _fixed = ("references",)
    _needed = "an object label and a source that says what it looks for"

    def __init__(
        self,
        objects: Objects = None,
        vectors: VectorSource = None,
        **settings: Unpack[EvidenceSettings],
    ) -> None:
        super().__init__(objects, vectors, False, **settings)

    def method(self) -> str:
        return "VIFIDEL-D"

    def signature_with(self, objects: str) -> str:
        return self._pin_evidence(objects)

    def score_part(self, part: Part[ClaimsGold]) -> Scored:
        judged, labels = self._judged(part), part.gold.named
        invented = fidelity.number_of(judged.inventions, part.gold.rows)
        covered = fidelity.coverage_of_labels(labels, part.gold.label_classes, judged.spoken_of)
        d = np.sqrt(covered) * _KEPT**invented
        speechless = part.words.sizes == 0
        d = np.where(speechless, 0.0, d)
        can_deny = np.array([one.anything for one in part.gold.deniable], dtype=bool)
        defined = can_deny & (labels.sizes > 0)
        return Scored(np.where(defined, d, np.nan)[:, None], {"no_words": speechless})


register(
    Metric(
        "VIFIDEL-D",
        "Detail without invention (experimental): the objects that a caption mentions, minus "
        "what it makes up",
        VifidelD,
        lambda settings: VifidelD(
            **{k: v for k, v in settings.evidence.items() if k != "references"}
        ),
        rank=35,
        references=False,
        objects=True,
        tables=True,
        options=(THINGS, ONLY_THINGS),
        papers=(VIFIDEL_EVAL,),
    )
)
