"""What all scorers of the family share: pycocoevalcap's protocol and the one line."""

from __future__ import annotations

import importlib.metadata
import math
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import CaptionError, ImageIdError, VectorsError, VifidelWarning
from ..image_ids import ImageId, samples
from ..kernels.bags import Floats, Tally
from ..vectors.sources import WordVectors

# Above this share of unknown words the scores say little about the captions: warn.
_MANY_UNKNOWN = 0.1
# Above this one, and from this many different words on, they say nothing: refuse.
_ALMOST_ALL_UNKNOWN = 0.9
_ENOUGH_TO_REFUSE = 20

_SEQUENCES = (list, tuple)
_STRINGS = frozenset({str})


_NOTHING_READ = Tally(0, Counter())


@dataclass(frozen=True)
class Statistics:
    """What a corpus score follows from where that is not a mean: counts, added over images.

    Attributes
    ----------
    of_images : (number of images, k) float64
        Whole numbers; NaN where the image's score is undefined.
    score : callable
        The corpus score of sums over images: (..., k) to (...).
    """

    of_images: Floats
    score: Callable[[Floats], Floats]


@dataclass(frozen=True)
class Evaluation:
    """The scores of one system under one metric.

    Attributes
    ----------
    ids : list
        Image ids, in the order of the captions given.
    scores : (number of images,) float64
        NaN where the score is undefined.
    tally : Tally
        Words of the candidates, and those of them that have no vector.
    wordless : int
        Captions without a usable word; they score 0.
    unweighted : int
        Images scored without weights because no reference has a usable word.
    corpus_score : float, optional
        The metric's own score of the corpus, where that is not the mean of `scores` (BLEU).
    statistics : Statistics, optional
        What `corpus_score` follows from, where it can be had for other sets of the images.
    """

    ids: list[ImageId]
    scores: Floats
    tally: Tally = _NOTHING_READ
    wordless: int = 0
    unweighted: int = 0
    corpus_score: float | None = None
    statistics: Statistics | None = None

    @property
    def score(self) -> float:
        """The corpus score, else the mean of the defined scores; NaN if none is."""
        if self.corpus_score is not None:
            return self.corpus_score
        defined = self.scores[~np.isnan(self.scores)].tolist()
        return math.fsum(defined) / len(defined) if defined else math.nan

    @property
    def undefined(self) -> int:
        """Number of images without a score."""
        return int(np.isnan(self.scores).sum())


class Scorer(ABC):
    """A metric that scores candidate captions as pycocoevalcap's scorers do."""

    @abstractmethod
    def method(self) -> str:
        """Return the name of the metric, e.g. ``"VIFIDEL"``."""

    @abstractmethod
    def signature(self) -> str:
        """Return one line that pins everything that changes the number."""

    def _pinned(self, *settings: str, package: str, splitter: str | None = None) -> str:
        """Return a signature: name, settings, the packages that compute, and this one."""
        version = importlib.metadata.version
        computed_by = [
            f"{name.lower()}:{version(name).partition('+')[0]}"  # without +cpu
            for name in (splitter, package)
            if name is not None
        ]
        ours = f"version:{version('vifidel-eval')}"
        return "|".join([self.method(), *settings, *computed_by, ours])

    def prepare(self, ids: Sequence[ImageId]) -> None:  # noqa: B027 - most metrics see no image
        """Read and check what the metric needs to know of images, before the first is scored.

        Where a signature is of the images, it is of those that were asked for last: here, or
        by an evaluation.

        Parameters
        ----------
        ids : sequence
            The images of all systems of a run.

        Raises
        ------
        VifidelError
            If an image is unknown or what is known of it cannot be used.
        """

    @abstractmethod
    def evaluate(
        self,
        gts: Mapping[ImageId, Sequence[str]],
        res: Mapping[ImageId, Sequence[str]],
        on_progress: Callable[[int], object] | None = None,
    ) -> Evaluation:
        """Score candidates and return the scores with everything that was counted.

        Parameters
        ----------
        gts : mapping
            Image id to references; its order is the order of the result.
        res : mapping
            Image id to a list of one candidate caption; the same ids as `gts`.
        on_progress : callable, optional
            Called with the number of captions just scored.

        Raises
        ------
        VifidelError
            If ids or captions are not as described.
        """

    def evaluate_columns(
        self,
        gts: Mapping[ImageId, Sequence[str]],
        res: Mapping[ImageId, Sequence[str]],
        on_progress: Callable[[int], object] | None = None,
    ) -> dict[str, Evaluation]:
        """Return one evaluation a column of a table; most metrics have one, named `method`."""
        return {self.method(): self.evaluate(gts, res, on_progress)}

    def compute_score(
        self, gts: Mapping[ImageId, Sequence[str]], res: Mapping[ImageId, Sequence[str]]
    ) -> tuple[float, Floats]:
        """Return the corpus score and the score of each image, in the order of `gts`.

        The arguments are pycocoevalcap's: raw or tokenised captions, a list of references and
        a list of one candidate for each image id.

        Returns
        -------
        score : float
            Mean over the images whose score is defined; NaN if there is none.
        scores : (number of images,) float64
            NaN where the score is undefined.

        Raises
        ------
        VifidelError
            If ids or captions are not as described.
        """
        evaluation = self.evaluate(gts, res)
        return evaluation.score, evaluation.scores

    def add_to(self, coco_eval: Any) -> float:
        """Add this metric to a finished ``COCOEvalCap`` run and return its (last) corpus score.

        The captions are taken as written from ``coco_eval.coco`` and ``coco_eval.cocoRes`` for
        the images of ``coco_eval.params["image_id"]``. The score joins ``coco_eval.eval``, the
        scores of the images join ``imgToEval`` and ``evalImgs``. An undefined score is None
        there: JSON has no NaN.

        Raises
        ------
        VifidelError
            If an image has no candidate or two.
        """
        ids = list(coco_eval.params["image_id"])
        gts = {i: _captions(coco_eval.coco, i) for i in ids}
        res = {i: _captions(coco_eval.cocoRes, i) for i in ids}
        score = math.nan
        for column, evaluation in self.evaluate_columns(gts, res).items():
            score = evaluation.score
            coco_eval.setEval(None if math.isnan(score) else score, column)
            per_image = [None if math.isnan(s) else s for s in evaluation.scores.tolist()]
            coco_eval.setImgToEvalImgs(per_image, gts.keys(), column)
        coco_eval.setEvalImgs()
        return score


class ColumnScorer(Scorer):
    """A metric with several columns; as one number it is the last one."""

    @abstractmethod
    def evaluate_columns(
        self,
        gts: Mapping[ImageId, Sequence[str]],
        res: Mapping[ImageId, Sequence[str]],
        on_progress: Callable[[int], object] | None = None,
    ) -> dict[str, Evaluation]: ...

    def evaluate(
        self,
        gts: Mapping[ImageId, Sequence[str]],
        res: Mapping[ImageId, Sequence[str]],
        on_progress: Callable[[int], object] | None = None,
    ) -> Evaluation:
        return list(self.evaluate_columns(gts, res, on_progress).values())[-1]


def _captions(coco: Any, image_id: ImageId) -> list[str]:
    # imgToAnns is a defaultdict: indexing it would add the image.
    annotations = coco.imgToAnns.get(image_id, [])
    if not all("caption" in annotation for annotation in annotations):
        raise CaptionError(
            f"image {image_id!r}: its annotations have no 'caption'; COCOEvalCap takes captions."
        )
    return [annotation["caption"] for annotation in annotations]


def candidates(
    gts: Mapping[ImageId, Sequence[str]], res: Mapping[ImageId, Sequence[str]]
) -> list[str]:
    """Return the candidate of each image, in the order of `gts`.

    Raises
    ------
    CaptionError
        If an image has no candidate or several, or one that is not a string.
    ImageIdError
        If `gts` and `res` do not have the same ids.
    """
    if not isinstance(gts, Mapping) or not isinstance(res, Mapping):
        raise CaptionError(
            "gts and res map image ids to lists of captions; found "
            f"{type(gts).__name__} and {type(res).__name__}."
        )
    if gts.keys() != res.keys():
        only_gts = [image_id for image_id in gts if image_id not in res]
        only_res = [image_id for image_id in res if image_id not in gts]
        raise ImageIdError(
            f"gts and res must have the same image ids: {len(only_gts)} are only in gts "
            f"({samples(only_gts)}), {len(only_res)} only in res ({samples(only_res)})."
        )
    return [_only_caption(image_id, res[image_id]) for image_id in gts]


def _only_caption(image_id: ImageId, captions: Any) -> str:
    if isinstance(captions, _SEQUENCES) and len(captions) == 1 and isinstance(captions[0], str):
        return captions[0]
    if isinstance(captions, _SEQUENCES) and len(captions) != 1:
        found = f"{len(captions)} captions"
    else:
        found = f"{captions!r:.60}"
    raise CaptionError(
        f"image {image_id!r}: expected a list of one candidate caption, found {found}."
    )


def check_references(image_id: ImageId, references: Any) -> Sequence[str]:
    """Return the references of an image if they are a list of strings.

    Raises
    ------
    CaptionError
        If they are not.
    """
    if isinstance(references, _SEQUENCES) and (
        _STRINGS.issuperset(map(type, references)) or all(isinstance(r, str) for r in references)
    ):
        return references
    raise CaptionError(
        f"image {image_id!r}: expected a list of references, found {references!r:.60}."
    )


def check_known_words(tally: Tally, what: str, vectors: WordVectors) -> None:
    """Warn of many unknown words; refuse vectors that know almost none.

    Raises
    ------
    VectorsError
        If more than nine tenths of at least 20 words have no vector.
    """
    unknown = tally.unknown.total()
    if unknown <= _MANY_UNKNOWN * tally.words:
        return
    examples = ", ".join(word for word, _ in tally.unknown.most_common(5))
    share = (
        f"{unknown} of {tally.words} words of the {what} have no vector in "
        f"{vectors.signature()}, such as {examples}"
    )
    if unknown > _ALMOST_ALL_UNKNOWN * tally.words and tally.words >= _ENOUGH_TO_REFUSE:
        raise VectorsError(f"{share}; are these vectors of the {what}' language, in lower case?")
    warnings.warn(f"{share}; they are left out.", VifidelWarning, stacklevel=4)
