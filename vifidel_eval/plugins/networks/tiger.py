"""TIGEr: whether a caption describes the image regions that the references describe."""

from __future__ import annotations

import base64
import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from ...captions.rows import Rows
from ...doors.arguments import Option, constructor
from ...errors import VifidelError, warn
from ...evaluation import Column, Evaluation, Floats, evaluations_of
from ...io.files import open_file, read_text, reason, unmapped
from ...io.image_ids import ImageId, from_json_key
from ...scorers.base import Progress, Scorer
from ...scorers.record import JIANG_2019, Metric
from ...scorers.registry import register
from ...words.settings import DEVICE
from ...words.word_vectors import Tally
from ..pytorch import PickledArguments, load_libraries
from .regions import BoundedCache, Features, FeatureSource, Floats32, ImageSide, Regions, numbers

_TAU = 1.5  # as the published program has it

_IMAGES_AT_ONCE = 128
# Up to so many bytes are kept for the next system: the regions of 7 000 images at the published
# sizes, and the vectors of 460 000 captions.
_IMAGE_BYTES, _CAPTION_BYTES = 1 << 30, 1 << 27

_TSV_FIELDS = ("image_id", "image_w", "image_h", "num_boxes", "boxes", "features")
# More than the first four fields of a line have, and more than a line of any detector.
_TSV_HEAD, _TSV_LINE = 1 << 12, 1 << 28
_BYTES_PER_BOX = 4 * 4  # four numbers in single precision

# An image, by its id in the features, and a caption.
_Pair = tuple[ImageId, str]


def region_rank_similarity(reference: Floats, candidate: Floats) -> float:
    """Return RRS, 0 to 1: how well the candidate orders the regions by the reference's values."""
    lowest, highest = reference.min(), reference.max()
    if lowest == highest:
        return 1.0
    gains = (reference - lowest) / (highest - lowest)
    discounts = 1 / np.log2(np.arange(len(gains)) + 2)
    in_order = gains[np.argsort(-candidate, kind="stable")]
    ideal = gains[np.argsort(-gains, kind="stable")]
    return float((in_order * discounts).sum() / (ideal * discounts).sum())


def divergence(reference: Floats, candidate: Floats) -> float:
    """Return the Kullback-Leibler divergence of the candidate's softmax from the reference's."""
    of_reference = reference - np.log(np.exp(reference).sum())
    of_candidate = candidate - np.log(np.exp(candidate).sum())
    return float((np.exp(of_reference) * (of_reference - of_candidate)).sum())


def relative_norm(reference: Floats, candidate: Floats) -> float:
    """Return the logarithm of the ratio of the norms; 0 if one of them is 0."""
    norms = float(np.linalg.norm(reference)), float(np.linalg.norm(candidate))
    return math.log(norms[0] / norms[1]) if all(norms) else 0.0


def weight_distribution_similarity(reference: Floats, candidate: Floats) -> float:
    """Return WDS, from 0 to 1: .5 for equal vectors, more for a candidate of greater norm."""
    x = _TAU * (divergence(reference, candidate) + relative_norm(reference, candidate))
    return 1 / (1 + math.exp(x))


def read_regions(source: FeatureSource) -> Features:
    """Open the features of image regions, without their boxes.

    A path is recognised by its content: ``NAME_ims.npy`` of SCAN, (images, regions, width), beside
    ``NAME_ids.txt`` with an image id for each *caption*; or a TSV file of bottom-up attention, with
    `_TSV_FIELDS`. A mapping gives each image id an array, (regions, width).
    """
    if isinstance(source, Features):
        return source
    read_region: Callable[[Any], Any]
    if isinstance(source, Mapping):
        where, places, read_region = "features", {key: key for key in source}, source.__getitem__
    elif isinstance(source, str | os.PathLike):
        where, path = str(source), Path(source)
        try:
            with open_file(path, VifidelError) as file:
                start = file.read(6)
            places, read_region = (_scan_rows if start == b"\x93NUMPY" else _tsv_lines)(path)
        except OSError as problem:
            raise VifidelError(f"{path}: {reason(problem)}; check the path.") from None
    else:
        raise VifidelError(
            f"features cannot be read from {type(source).__name__} {source!r:.40}; accepted: a "
            "path, or a mapping {image id: array of shape (regions, width)}."
        )
    if not places:
        raise VifidelError(f"{where}: has no images; give features of the images to score.")

    def load(place: Any, at: str) -> Regions:
        features = numbers(partial(read_region, place), at, "features", "f", 2)
        if len(features) < 2:
            raise VifidelError(
                f"{at}: regions are compared with each other; give two or more, not "
                f"{len(features)}."
            )
        return Regions(features)

    return Features(where, places, load)


def ids_path(path: Path) -> Path:
    """Return the file of image ids of SCAN's ``testall_ims.npy``: ``testall_ids.txt``."""
    return path.with_name(path.stem.removesuffix("_ims") + "_ids.txt")


def _scan_rows(path: Path) -> tuple[dict[ImageId, Any], Callable[[Any], Any]]:
    """Return the rows of each image in an array of SCAN, and what reads them."""
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        rows = unmapped(mapped, VifidelError, "the file was truncated while it was in use")
        del mapped
    except OSError:
        raise
    except Exception:  # a damaged header raises nearly anything
        raise VifidelError(
            f"{path}: not an array of numbers, or truncated; get or make it again."
        ) from None
    if len(rows.shape) != 3:
        raise VifidelError(
            f"{path}: an array of shape {rows.shape}; SCAN's have (images, regions, width)."
        )
    listed = ids_path(path)
    of_captions = read_text(listed, VifidelError).split()
    if len(of_captions) not in (len(rows), 5 * len(rows)):
        raise VifidelError(
            f"{path}: {len(rows)} images, but {len(of_captions)} captions in {listed.name}; SCAN "
            "has one or five captions per image there."
        )
    per_image = max(1, len(of_captions) // max(1, len(rows)))
    places: dict[ImageId, list[int]] = {}
    for row, image in enumerate(of_captions[::per_image]):
        lines = of_captions[row * per_image : (row + 1) * per_image]
        if other := next((at for at, text in enumerate(lines) if text != image), 0):
            raise VifidelError(
                f"{listed}, line {row * per_image + other + 1}: image {lines[other]} where the "
                f"lines of one image ({image}) should be; the file does not belong to {path.name}."
            )
        places.setdefault(from_json_key(image), []).append(row)

    def read_region(of_image: list[int]) -> Any:
        first, *others = (rows[row] for row in of_image)
        # Where every caption has a row, an image's rows are copies of each other.
        if not all(np.array_equal(first, other, equal_nan=True) for other in others):
            raise ValueError("its rows differ, although they are of one image")
        return first

    return places, read_region


def _tsv_lines(path: Path) -> tuple[dict[ImageId, Any], Callable[[Any], Any]]:
    """Return where the line of each image begins and ends, and what reads its features."""
    places: dict[ImageId, tuple[int, int]] = {}
    line = width = start = 0
    size = path.stat().st_size
    with open(path, "rb") as file:
        while start < size:
            line += 1
            at = f"{path}, line {line}"
            file.seek(start)
            begin = file.read(_TSV_HEAD)
            if places and not begin.strip() and start + len(begin) == size:
                break  # blank lines at the end
            head = begin.split(b"\t", 4)
            try:
                image, boxes = head[0].decode(), int(head[3])
                if image != image.strip() or not 1 <= boxes * _BYTES_PER_BOX <= size:
                    raise ValueError
                if not width:
                    file.seek(start)
                    fields = file.readline(_TSV_LINE).rstrip(b"\r\n").split(b"\t")
                    width, odd = divmod(len(base64.b64decode(fields[5])), 4 * boxes)
                    if odd or not width or len(fields) != len(_TSV_FIELDS):
                        raise ValueError
            except (ValueError, IndexError):
                raise VifidelError(
                    f"{at}: not region features; expected {', '.join(_TSV_FIELDS)}, with tabs "
                    "between, or SCAN's .npy."
                ) from None
            before = sum(map(len, head[:4])) + 4
            end = start + before + _base64(boxes * _BYTES_PER_BOX) + 1 + _base64(boxes * width * 4)
            file.seek(end)
            break_after = file.read(2)
            if end > size or not (break_after[:1] in (b"", b"\n") or break_after == b"\r\n"):
                raise VifidelError(
                    f"{at}: image {image} does not have the length of {boxes} regions of {width} "
                    "numbers; the file is damaged or truncated, get a fresh copy."
                )
            image_id = from_json_key(image)
            if image_id in places:
                raise VifidelError(f"{at}: image {image} appears twice; keep one line.")
            places[image_id] = (start, end)
            start = end + (2 if break_after == b"\r\n" else 1)

    def read_region(place: tuple[int, int]) -> Floats32:
        with open(path, "rb") as file:
            file.seek(place[0])
            fields = file.read(place[1] - place[0]).split(b"\t")
        features = np.frombuffer(base64.b64decode(fields[5], validate=True), "<f4")
        return features.reshape(int(fields[3]), -1)

    return places, read_region


def _base64(size: int) -> int:
    """Return the length of so many bytes in base64."""
    return -(-size // 3) * 4


class Tiger(PickledArguments, Scorer):
    """TIGEr (Jiang et al., EMNLP 2019), as its published program computes it.

    SCAN's encoders give every region of an image a cosine to a caption: how well the region is
    grounded in it. The candidate's vector of these is compared with the mean vector of the
    references in two ways. RRS, region rank similarity, is the normalised discounted cumulative
    gain of the candidate's order of the regions. WDS, weight distribution similarity, is a
    sigmoid of the divergence between the two vectors and of the ratio of their norms. TIGEr is
    the mean of the two. All lie between 0 and 1; a candidate that equals the only reference has
    RRS 1, WDS .5 and TIGEr .75, and one that is grounded more strongly scores higher.

    The metric reads raw captions: tokenised ones, as pycocoevalcap hands them to its scorers, have
    lost their punctuation and score differently.

    Parameters
    ----------
    checkpoint : path
        SCAN's ``model_best.pth``; read without running code in it.
    vocabulary : path
        SCAN's ``coco_precomp_vocab.json``.
    features : path, mapping or Features
        Region features, as `vifidel_eval.plugins.networks.tiger.read_regions` takes them.
    device : str, optional
        Where to compute, as PyTorch calls it (``"cuda"``); by default the processor.

    Without PyTorch or NLTK that is a `MetricUnavailable`; files that cannot be read, are damaged or
    something else, or do not fit together are a `VifidelError`.
    """

    columns = (Column("TIGEr-RRS"), Column("TIGEr-WDS"), Column("TIGEr"))

    @constructor
    def __init__(
        self,
        checkpoint: str | os.PathLike[str],
        vocabulary: str | os.PathLike[str],
        features: FeatureSource,
        device: str | None = None,
    ) -> None:
        super().__init__()
        load_libraries("TIGEr", {"PyTorch": "torch", "NLTK": "nltk.tokenize"})
        from .scan import Scan, Tokenizer

        self._tokenizer = Tokenizer()
        self._scan = Scan(checkpoint, vocabulary, device)
        self._images = ImageSide(
            read_regions(features), self._scan.width, self._scan.regions, BoundedCache(_IMAGE_BYTES)
        )
        self._groundings = BoundedCache(_CAPTION_BYTES)  # by image and caption

    def method(self) -> str:
        return "TIGEr"

    def signature(self, image_ids: Sequence[ImageId] | None = None) -> str:
        return self._pinned(
            *(f"{part}:{digest}" for part, digest in self._scan.digests.items()),
            f"features:{self._images.signature(image_ids)}",
            f"tok:{self._tokenizer.name}",
            package="torch",
            splitter="nltk",
        )

    def check_images(self, image_ids: Sequence[ImageId]) -> None:
        self._images.find(image_ids)

    def _evaluate(self, rows: Rows, on_progress: Progress) -> dict[str, Evaluation]:
        images = self._images.described(rows, self.method())
        described = list(zip(images, rows.references, rows.captions, strict=True))
        scores: list[tuple[float, float, float]] = []
        for start in range(0, len(described), _IMAGES_AT_ONCE):
            some = described[start : start + _IMAGES_AT_ONCE]
            # References are read once for all systems, and for all choices among them.
            grounding_of = self._groundings.complete(
                [(i, text) for i, references, caption in some for text in (*references, caption)],
                self._grounded,
            )
            for i, references, caption in some:
                vector = grounding_of[i, caption]
                reference = np.mean([grounding_of[i, text] for text in references], axis=0)
                rrs = region_rank_similarity(reference, vector)
                wds = weight_distribution_similarity(reference, vector)
                scores.append((rrs, wds, 0.5 * rrs + 0.5 * wds))
            on_progress(len(some))
        # References first, because all systems share them.
        if end := self._tokenizer.unsplit(chain(*rows.references, rows.captions)):
            warn(
                f"some captions have several sentences, such as the one with {end!r}; without "
                "NLTK's punkt data such a word is unknown: python -c \"import nltk; "
                "nltk.download('punkt_tab')\"."
            )
        words = [word for caption in rows.captions for word in self._tokenizer(caption)]
        unknown = Counter(word for word in words if word not in self._scan.vocabulary)
        counts = {"unknown_words": unknown.total()}
        tallies = {"captions": Tally(len(words), unknown)}
        table = np.array(scores, dtype=np.float64).reshape(-1, len(self.columns))
        return evaluations_of(self.columns, rows.ids, table, counts=counts, tallies=tallies)

    def _grounded(self, pairs: Sequence[_Pair]) -> dict[_Pair, Floats]:
        """Return how the regions of images are grounded in captions."""
        regions = self._images.encoded(image for image, _ in pairs)
        words = [self._tokenizer(caption) for _, caption in pairs]
        vectors = self._scan.groundings([regions[image] for image, _ in pairs], words)
        return dict(zip(pairs, vectors, strict=True))


_OPTIONS = ("tiger_checkpoint", "tiger_vocabulary", "tiger_features", "device")

register(
    Metric(
        "TIGEr",
        "Whether a caption describes the image regions that the references describe",
        Tiger,
        lambda settings: Tiger(*map(settings.options.__getitem__, _OPTIONS)),
        rank=120,
        options=(
            Option("tiger_checkpoint", "For TIGEr: SCAN's model_best.pth.", required=True),
            Option("tiger_vocabulary", "For TIGEr: SCAN's coco_precomp_vocab.json.", required=True),
            Option(
                "tiger_features",
                "For TIGEr: region features, either SCAN's NAME_ims.npy with NAME_ids.txt in the "
                "same folder or a bottom-up-attention TSV.",
                required=True,
                companion=ids_path,
            ),
            DEVICE,
        ),
        packages=("torch", "nltk"),
        papers=(JIANG_2019,),
    )
)
