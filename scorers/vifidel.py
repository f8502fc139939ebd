"""VIFIDEL: how faithful a caption is to what its image shows."""

from __future__ import annotations

import math

import numpy as np

from ..annotations.categories import Declared
from ..annotations.labels import AttributeSource
from ..doors.arguments import check_switches, constructor
from ..evaluation import Column
from ..kernels.bags import Batch, ImageSide
from ..kernels.transport import check_exponent, similarities, travel_distances
from ..words.content_words import STOP_WORDS
from ..words.word_vectors import VectorSource
from .explaining import ExplainingScorer, Things
from .record import MADHYASTHA_2019, Metric
from .registry import register
from .word_vectors import Objects, Score, Scored, Words


class Vifidel(ExplainingScorer[ImageSide]):
    """Visual fidelity of captions (Madhyastha, Wang & Specia, ACL 2019).

    The bag of an image's object labels is moved onto the bag of the caption's content words by
    optimal transport in a word-vector space; the score is exp(-distance), in [0, 1].

    Parameters
    ----------
    objects : path, pycocotools COCO, mapping, or list of these, optional
        The image side, as `vifidel_eval.annotations.read_objects` takes it.
        Without it the objects are given to `score`, caption by caption.
    vectors : None, path, str, KeyedVectors
        Word vectors, as `vifidel_eval.vectors.load_vectors` takes them.
    references : bool
        Whether words are weighted by references (Eq. 4 and 5). If False (Eq. 3), references only
        give the image ids.
    p : 1 or 2
        Exponent of the distances between words (Eq. 1); the paper's is 2.
    counts : bool
        Whether two dogs weigh twice as much as one; False is the paper's presence only
        (Table 3). Caption words always count as often as they occur.
    normalize : bool
        Whether word vectors are scaled to length 1.
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
    attributes : mapping, path, or list of paths, optional
        Attributes of objects and labels of scenes, such as ``{1: ["red car", "sunny"]}``; they join
        the image's bag. `vifidel_eval.annotations.read_objects` says what it may be.

    Raises
    ------
    AnnotationError, ImageIdError, VectorsError
        If the objects or the vectors cannot be read.
    VifidelError
        If another argument is not as described.

    Examples
    --------
    >>> scorer = Vifidel({1: ["dog", "frisbee"]}, references=False)
    >>> score, scores = scorer.compute_score({1: []}, {1: ["a dog catches a frisbee"]})
    """

    columns = (Column("VIFIDEL"),)
    _references_suffice = False
    _attributes_are_labels = True

    @constructor
    def __init__(
        self,
        objects: Objects = None,
        vectors: VectorSource = None,
        references: bool = True,
        p: int = 2,
        counts: bool = True,
        normalize: bool = True,
        *,
        threshold: Score = None,
        stop_words: Words = STOP_WORDS,
        things: Things = None,
        only_things: Things = None,
        undefined: float = math.nan,
        uncertain: Score = None,
        looked_for: Declared = None,
        attributes: AttributeSource = None,
    ) -> None:
        self._normalize = normalize
        super().__init__(
            objects,
            vectors,
            references,
            threshold=threshold,
            stop_words=stop_words,
            things=things,
            only_things=only_things,
            undefined=undefined,
            uncertain=uncertain,
            looked_for=looked_for,
            attributes=attributes,
        )
        self._p = check_exponent(p)
        check_switches(counts=counts)
        self._counts = counts
        where = "" if self._objects is None else f" in {self._objects.where}"
        self._needed = f"a usable object label{where}"

    def method(self) -> str:
        return "VIFIDEL"

    def signature_with(self, objects: str) -> str:
        return self._pinned(
            f"refs:{'yes' if self._use_references else 'no'}",
            f"counts:{'yes' if self._counts else 'no'}",
            f"objects:{objects}",
            f"p:{self._p}",
            *self._space.signature(self._p == 2),
            package="POT",
        )

    def score_part(self, part: Batch[ImageSide]) -> Scored:
        image_side, words = part.image_side, part.words
        distances = travel_distances(
            image_side.lexicon.distances,
            image_side.objects,
            words,
            self._p,
            image_side.label_penalties,
            image_side.penalties(words),
        )
        unweighted = (
            ~np.isnan(distances) & (image_side.usable_references == 0) & self._use_references
        )
        scores = similarities(image_side.objects.sizes > 0, words, distances)
        counts = {"no_words": words.sizes == 0, "unweighted": unweighted}
        return Scored(scores[:, None], counts, distances)


register(
    Metric(
        "VIFIDEL",
        "Faithfulness to the objects in the image, weighted by references if there are any",
        Vifidel,
        lambda settings: Vifidel(**settings.evidence | settings.words, counts=settings.counts),
        rank=10,
        references=False,
        objects=True,
        tables=True,
        papers=(MADHYASTHA_2019,),
    )
)
