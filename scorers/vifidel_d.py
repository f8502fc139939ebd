"""VIFIDEL-D: detail without invention, by what was looked for in the image."""

from __future__ import annotations

import math

import numpy as np

from ..annotations.categories import Declared
from ..doors.arguments import constructor
from ..evaluation import Column
from ..kernels import fidelity
from ..kernels.bags import Batch
from ..kernels.claim_evidence import ClaimImageSide
from ..words.content_words import STOP_WORDS
from ..words.settings import ONLY_THINGS, THINGS
from ..words.word_vectors import VectorSource
from .explaining import Things
from .record import VIFIDEL_EVAL, Metric
from .registry import register
from .vifidel_prf import ClaimScorer
from .word_vectors import Objects, Score, Scored, Words

_KEPT = 0.8  # what an invention leaves of the score; settled in docs/metrics.md


class VifidelD(ClaimScorer):
    """Detail without invention: which of the objects a caption mentions, less what it makes up.

    It is the square root of VIFIDEL-R without references (the share of the object labels that the
    caption mentions), times .8 for each thing that the labels deny; a thing mentioned twice counts
    once. It is in [0, 1], and an invention costs a fifth at any length. References are not read:
    they cannot deny what they do not mention. It is undefined for an image without labels, or if
    it is not known what was looked for, and 0 for a caption without a usable word.

    It is experimental: no human judgements support it yet.

    Parameters
    ----------
    objects : path, pycocotools COCO, mapping, or list of these, optional
        The image side, as `vifidel_eval.annotations.read_objects` takes it.
        Without it the objects are given to `score`, caption by caption.
    vectors : None, path, str, KeyedVectors
        Word vectors, as `vifidel_eval.vectors.load_vectors` takes them; only their directions
        count.
    threshold : float, optional
        The lowest detection score that counts; by default .6, and .4 for Open Images.
    stop_words : collection of str
        Words of captions that are left out.
    things : path or ClassList, optional
        More names of things, as `vifidel_eval.words.synonyms.read_classes` reads them; they join
        the object vocabulary.
    only_things : path or ClassList, optional
        The object vocabulary instead of the package's own list. What the objects of an image list,
        or say was looked for, is a name in that image even if no list has it.
    undefined : float
        Value of an undefined score: NaN, or a number such as 0 for scripts that take plain
        means.
    uncertain : float, optional
        As `vifidel_eval.annotations.read_objects` takes it.
    looked_for : str, path or collection of str, optional
        What was looked for in every image, if the objects do not say it: ``"coco"``, ``"voc"``,
        ``"all"`` (whatever is not listed is not there), a file with one label per line, or labels.

    Raises
    ------
    AnnotationError, ImageIdError, VectorsError
        If the objects or the vectors cannot be read.
    VifidelError
        If another argument is not as described.

    Examples
    --------
    >>> scorer = VifidelD()
    >>> captions = ["a dog", "a dog and a ball", "a dog, a ball and a zebra"]
    >>> objects = [{"dog": 1, "ball": 1, "zebra": 0}] * 3
    >>> scorer.score(captions, objects=objects).round(2).tolist()
    [0.74, 1.0, 0.8]
    """

    columns = (Column("VIFIDEL-D"),)
    _needed = "an object label and a source that says what it looks for"

    @constructor
    def __init__(
        self,
        objects: Objects = None,
        vectors: VectorSource = None,
        *,
        threshold: Score = None,
        stop_words: Words = STOP_WORDS,
        things: Things = None,
        only_things: Things = None,
        undefined: float = math.nan,
        uncertain: Score = None,
        looked_for: Declared = None,
    ) -> None:
        super().__init__(
            objects,
            vectors,
            False,
            threshold=threshold,
            stop_words=stop_words,
            things=things,
            only_things=only_things,
            undefined=undefined,
            uncertain=uncertain,
            looked_for=looked_for,
        )

    def method(self) -> str:
        return "VIFIDEL-D"

    def signature_with(self, objects: str) -> str:
        return self._pin_evidence(objects)

    def score_part(self, part: Batch[ClaimImageSide]) -> Scored:
        judged, labels = self._judged(part), part.image_side.named
        invented = fidelity.sure_inventions_per_row(judged.inventions, part.image_side.rows)
        covered = fidelity.coverage_of_labels(
            labels, part.image_side.label_classes, judged.spoken_of
        )
        d = np.sqrt(covered) * _KEPT**invented
        can_deny = np.array(
            [deniable.anything for deniable in part.image_side.deniable], dtype=bool
        )
        defined = can_deny & (labels.sizes > 0)
        return Scored(np.where(defined, d, np.nan)[:, None], {"no_words": part.words.sizes == 0})


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
