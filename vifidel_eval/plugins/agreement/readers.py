"""Data sets in JSON or MATLAB: THumB, HAT, nocaps-FOIL, pairs with distracted captions, PASCAL-50S.

An `AnnotationError` says which file is missing or cannot be read, and which of its entries has
another shape. Where files name pictures, image ids are the stems of these names.

PASCAL-50S and Abstract-50S (Vedantam et al., CVPR 2015) say which of two captions people prefer. Of
PASCAL-50S, ``pair_pascal.mat`` holds the pairs and the votes, and ``pascal50S.mat`` the references.
``consensus_pascal.mat`` and ``consensus_abstract.mat`` hold triplets: a pair of captions B, C is
judged against 48 references A, one after the other, with a ``rating`` of 1 for B, -1 for C; what
people prefer is the majority over the references.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ...doors.arguments import name_wrong_argument
from ...errors import AnnotationError
from ...io.containers import entries_of
from ...io.entries import Entries, Entry
from ...io.files import reason
from ...io.image_ids import ImageId, match, mismatch
from ...run.reading import PathLike
from ...words.content_words import content_words
from .flickr8k import TEXTS, read_forced_choices
from .judgements import ALL, Choices, Hallucinations, Judged, Ratings, image_id_of

#: What people were asked of THumB, and the keys of the answers with their bounds; the total is
#: (P + R) / 2 less penalties.
RATINGS: Mapping[str, tuple[str, float, float]] = {
    "P": ("P", 1, 5),
    "R": ("R", 1, 5),
    "total": ("human_score", -5, 5),
}


@name_wrong_argument
def read_thumb(folder: PathLike) -> Ratings:
    """Read THumB 1.0: captions of COCO rated for precision and recall (Kasai et al., NAACL 2022).

    Two JSON Lines files belong together by ``seg_id``::

        {"SYS": "Up-Down", "seg_id": "2690", "hyp": "A large body of water filled with boats.",
         "image": "COCO_val2014_000000002690.jpg", "P": 5.0, "R": 3.0, "human_score": 4.0}

        {"seg_id": "2690", "refs": ["A large number of small boats ...", "..."]}

    The subsets are the ``"machine"`` captions, and ``"all"`` with those that people wrote.
    """
    folder = Path(folder)
    references_path = folder / "mscoco_references.json"
    references: dict[str, tuple[str, ...]] = {}
    for entry in _entries(references_path):
        image = entry.text("seg_id")
        if image in references:
            raise entry.refusal("seg_id", "an image that appears once; keep one of its lines")
        references[image] = tuple(entry.texts("refs"))
    judged, ratings, systems = [], [], []
    for entry in _entries(folder / "mscoco_THumB-1.0.jsonl"):
        image = entry.text("seg_id")
        if image not in references:
            raise entry.refusal("seg_id", f"an image that {references_path.name} has")
        image_id = image_id_of(entry.text("image"))
        judged.append(Judged(image_id, (entry.text("hyp"),), references[image]))
        ratings.append([entry.number(key, low, high) for key, low, high in RATINGS.values()])
        systems.append(entry.text("SYS"))
    by_rating = np.array(ratings).T[:, :, None]
    return Ratings(
        "THumB",
        judged,
        dict(zip(RATINGS, by_rating, strict=True)),
        {"machine": np.array(systems) != "Human", "all": np.ones(len(judged), dtype=bool)},
        systems,
    )


@name_wrong_argument
def read_hat(path: PathLike) -> Hallucinations:
    """Read HAT: machine captions whose made-up words people marked (Petryk et al., NAACL 2024).

    The file is a JSON list, an entry per caption::

        {"image_path": "COCO_val2014_000000016903.jpg", "references": ["An orange sign ...", "..."],
         "caption": "A sign pointing in different directions.", "contains_hallucination": true,
         "grounding": [["A", false], ["sign", false], ["pointing", true], "..."]}

    ``grounding`` has each of the caption's pieces between blanks, and whether it is made up.
    """
    judged, made_up, marked = [], [], []
    for entry in _entries(path):
        judged.append(_of_image(entry, entry.text("caption")))
        made_up.append(entry.flag("contains_hallucination"))
        pairs = entry.members("grounding", list, "a list of [token, true or false]")
        if not all([type(part) for part in pair] == [str, bool] for pair in pairs):
            raise entry.refusal("grounding", "a list of [token, true or false]")
        if [token for token, _ in pairs] != entry.text("caption").split():
            raise entry.refusal("grounding", "the tokens of 'caption', separated by blanks")
        marked.append(frozenset(place for place, (_, is_made_up) in enumerate(pairs) if is_made_up))
    return Hallucinations("HAT", judged, np.array([made_up]), marked)


@name_wrong_argument
def read_nocaps_foil(path: PathLike) -> Hallucinations:
    """Read nocaps-FOIL: captions, and the same with one noun replaced (Petryk et al., NAACL 2024).

    The file is a JSON list, an entry per pair::

        {"image_path": "0013ea2087020901.jpg", "references": ["A baby ...", "..."],
         "baseline": "A little kid standing in a shirt.",
         "foil": "A little kid standing in a skirt.", "replacement": ["shirt", "skirt"]}

    Every word of the replacement is marked wherever the foil has it.
    """
    judged, marked = [], []
    for entry in _entries(path):
        judged.append(_of_image(entry, entry.text("baseline"), entry.text("foil")))
        replacement = entry.texts("replacement")
        if len(replacement) != 2:
            raise entry.refusal(
                "replacement", "the word that was replaced and the one in its place"
            )
        planted = set(content_words(replacement[1], ()))
        places = frozenset(
            place
            for place, piece in enumerate(entry.text("foil").split())
            if planted.intersection(content_words(piece, ()))
        )
        if not places:
            raise entry.refusal("replacement", "a second word that the foil has")
        marked.append(places)
    made_up = np.repeat([[False], [True]], len(judged), axis=1)
    return Hallucinations("nocaps-FOIL", judged, made_up, marked)


@name_wrong_argument
def read_distractors(
    path: PathLike, references: Mapping[ImageId, Sequence[str]] | None = None
) -> Choices:
    """Read correct captions beside distracted ones (Kilickaya et al., EACL 2017, 3.3; FOIL).

    The file is a JSON list, an entry per pair::

        {"image_id": 42, "kind": "switch people",
         "correct": "a woman rides a horse", "distractor": "a boy rides a horse",
         "references": ["a rider on a brown horse", "..."]}

    A folder, or a text file, is read by `read_forced_choices` instead. People prefer the first
    caption of every pair, the correct one. Images whose entries have no
    references get theirs from the mapping, if there is one; an image that it lacks is an
    `ImageIdError`.
    """
    path = Path(path)
    judged, kinds = [], []
    is_text = path.is_dir() or path.suffix in TEXTS
    for kind, pair in read_forced_choices(path) if is_text else ():
        judged.append(pair)
        kinds.append(kind)
    for entry in () if is_text else _entries(path):
        image_id = entry.image_id()
        for key in ("kind", "correct", "distractor"):
            if not isinstance(entry.get(key), str):
                raise entry.refusal(key, "a string")
        if entry["kind"] == ALL or not entry["kind"].isprintable():
            raise entry.error(
                f"{entry}: the kind cannot be called {entry['kind']!r:.40}: {ALL!r} is all kinds "
                "together, and names are printed; rename it."
            )
        entry_references = tuple(entry.texts("references")) if "references" in entry else ()
        judged.append(Judged(image_id, (entry["correct"], entry["distractor"]), entry_references))
        kinds.append(entry["kind"])
    if references is not None:
        lacking = [pair.image_id for pair in judged if not pair.references]
        image_ids = match(lacking, references)
        unknown = [image_id for image_id in lacking if image_id not in image_ids]
        if unknown:
            raise mismatch(unknown, references, str(path), "the reference side")
        judged = [
            pair
            if pair.references
            else replace(pair, references=tuple(references[image_ids[pair.image_id]]))
            for pair in judged
        ]
    return Choices(path.stem, judged, np.ones(len(judged)), kinds)


def _entries(path: PathLike) -> Entries:
    entries = entries_of(path, AnnotationError)
    if not entries:
        raise AnnotationError(f"{path}: is an empty list; get the published file again.")
    return entries


def _of_image(entry: Entry, *captions: str) -> Judged:
    image_id = image_id_of(entry.text("image_path"))
    return Judged(image_id, captions, tuple(entry.texts("references")))


#: ``category`` of a pair.
KINDS: Mapping[int, str] = {1: "HC", 2: "HI", 3: "HM", 4: "MM"}
_IN_WORDS = {
    "HC": "Two human captions, both right",
    "HI": "Two human captions, one of another image",
    "HM": "A human's and a machine's caption",
    "MM": "Two machines' captions",
}

_REFERENCES = 48  # triplets that follow each other for each pair
_AGAIN = "get the published file again."
_DAMAGED = "{}: not a MATLAB file, or a damaged one; download the published file again."


@name_wrong_argument
def read_pascal50s(folder: PathLike, consensus: bool = False) -> Choices:
    """Read PASCAL-50S, or the part of it that is there, in the order of ``pair_pascal.mat``.

    With `consensus`, what people prefer is the triplets' majority, not the direct votes.
    """
    folder = Path(folder)
    path = folder / "pair_pascal.mat"
    pairs = _structs(path, "new_input", ["name", "sent1", "sent2"])
    categories = np.ravel(_variable(path, "category"))
    if categories.dtype.kind not in "uif":
        raise AnnotationError(f"{path}: 'category' holds no numbers; is it the published file?")
    results = _structs(path, "result", ["result"])
    if not len(pairs) == len(categories) == len(results):
        raise AnnotationError(
            f"{path}: {len(pairs)} pairs, {len(categories)} categories and {len(results)} results; "
            f"{_AGAIN}"
        )
    unknown = set(categories.tolist()) - set(KINDS)
    if unknown:
        raise AnnotationError(f"{path}: no category {min(unknown)}; they are 1 to 4.")
    references = {}
    images = folder / "pascal50S.mat"
    for at, image in enumerate(_structs(images, "train_sent_final", ["name", "sentences"]), 1):
        where = f"{images}: image {at}"
        sentences = tuple(_text(sentence, where) for sentence in np.atleast_1d(image.sentences))
        references[PurePosixPath(_text(image.name, where)).stem] = sentences
    judged = []
    for at, pair in enumerate(pairs, 1):
        where = f"{path}: pair {at}"
        image = PurePosixPath(_text(pair.name, where)).stem
        if image not in references:
            raise AnnotationError(f"{where}: no references of image {image!r} in {images.name}.")
        captions = (_text(pair.sent1, where), _text(pair.sent2, where))
        judged.append(Judged(image, captions, references[image]))
    if consensus:
        preferred = _consensus(folder / "consensus_pascal.mat", judged)
    else:
        preferred = [
            _majority(votes.result, f"{path}: pair {n}") for n, votes in enumerate(results, 1)
        ]
    kinds = [KINDS[category] for category in categories.tolist()]
    preferences = np.array(preferred)
    return Choices("PASCAL-50S", judged, preferences, kinds, kinds_in_words=_IN_WORDS)


@name_wrong_argument
def read_abstract50s(folder: PathLike) -> Choices:
    """Read Abstract-50S from ``consensus_abstract.mat``: pairs of captions of abstract scenes.

    Two are correct, or one is of another scene; the file does not say which. Pairs that were judged
    against the same references are of one scene, whose image id is its number from 1.
    """
    folder = Path(folder)
    pairs = _triplets(folder / "consensus_abstract.mat")
    preferred = np.array([majority for _, majority in pairs])
    return Choices("Abstract-50S", [pair for pair, _ in pairs], preferred, [""] * len(pairs))


def _triplets(path: Path) -> list[tuple[Judged, float]]:
    """Return the pairs of a file, with the references they were judged against, and who won."""
    triplets = _structs(path, "triplets", ["A", "B", "C", "rating"])
    if len(triplets) % _REFERENCES:
        raise AnnotationError(
            f"{path}: {len(triplets)} triplets, not {_REFERENCES} per pair; {_AGAIN}"
        )
    pairs = []
    scenes: dict[tuple[str, ...], int] = {}
    for start in range(0, len(triplets), _REFERENCES):
        of_pair = triplets[start : start + _REFERENCES]
        where = f"{path}: triplets {start + 1} to {start + _REFERENCES}"
        if not all(
            np.ndim(triplet.rating) == 0
            and triplet.rating in (-1, 0, 1)
            and all(isinstance(caption, str) for caption in (triplet.A, triplet.B, triplet.C))
            for triplet in of_pair
        ):
            raise AnnotationError(
                f"{where}: not three captions and a rating of 1, -1 or 0; {_AGAIN}"
            )
        captions, *other_pairs = {(triplet.B.strip(), triplet.C.strip()) for triplet in of_pair}
        if other_pairs:
            raise AnnotationError(f"{where}: they do not all belong to one pair; {_AGAIN}")
        references = tuple(triplet.A.strip() for triplet in of_pair)
        majority = np.sign(sum(float(triplet.rating) for triplet in of_pair))
        scene = scenes.setdefault(references, len(scenes) + 1)
        pairs.append((Judged(scene, captions, references), majority))
    return pairs


def _consensus(path: Path, judged: list[Judged]) -> list[float]:
    """Return what the triplets prefer; machines give many images the same two captions."""
    by_captions: dict[tuple[str, ...], list[tuple[Judged, float]]] = {}
    for of_pair in _triplets(path):
        by_captions.setdefault(of_pair[0].captions, []).append(of_pair)
    lacking = [pair.captions for pair in judged if pair.captions not in by_captions]
    if lacking:
        raise AnnotationError(
            f"{path}: no triplets of {len(lacking)} of the {len(judged)} pairs in pair_pascal.mat, "
            f"such as {lacking[0]!r}."
        )
    preferred = []
    for pair in judged:
        candidates = by_captions[pair.captions]
        references = set(pair.references)
        nearest = max(candidates, key=lambda pair: len(references.intersection(pair[0].references)))
        if len(candidates) > 1:
            candidates.remove(nearest)
        preferred.append(nearest[1])
    return preferred


def _majority(votes: object, where: str) -> float:
    numbers = np.ravel(np.asarray(votes))
    if not len(numbers) or numbers.dtype.kind not in "iuf" or not np.isin(numbers, (-1, 1)).all():
        raise AnnotationError(f"{where}: the votes are {votes!r:.40}, not 1 and -1; {_AGAIN}")
    return float(np.sign(numbers.sum(dtype=np.float64)))


def _text(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise AnnotationError(f"{where}: found {value!r:.40} instead of text; get the file again.")
    return value.strip()


def _structs(path: Path, variable: str, fields: Sequence[str]) -> list[Any]:
    """Return the structs of a variable of a MATLAB file, with their fields as attributes."""
    structs = [struct for struct in np.atleast_1d(_variable(path, variable)) if struct is not None]
    if not structs or not all(hasattr(struct, field) for struct in structs for field in fields):
        raise AnnotationError(
            f"{path}: {variable!r} is not a list of structs with {', '.join(fields)}; is it the "
            "published file?"
        )
    return structs


def _variable(path: Path, variable: str) -> Any:
    from scipy.io import loadmat, whosmat

    if not path.exists():
        raise AnnotationError(
            f"{path}: no such file; give the folder that holds the data set's published files."
        )
    try:
        content = loadmat(path, squeeze_me=True, struct_as_record=False, variable_names=[variable])
        if variable in content:
            return content[variable]
        names = ", ".join(name for name, *_ in whosmat(path))
    except OSError as problem:
        if problem.errno is None:  # SciPy's own: the content ends too early
            raise AnnotationError(_DAMAGED.format(path)) from None
        raise AnnotationError(f"{path}: {reason(problem)}; check the path.") from None
    except NotImplementedError:
        raise AnnotationError(
            f"{path}: a MATLAB 7.3 file, unlike the published one; get the published file."
        ) from None
    except Exception:  # damaged files raise nearly anything in SciPy
        raise AnnotationError(_DAMAGED.format(path)) from None
    raise AnnotationError(
        f"{path}: no variable {variable!r} but {names or 'none'}; is it the published file?"
    )
