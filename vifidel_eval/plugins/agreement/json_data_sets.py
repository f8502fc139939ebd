"""Data sets that come as JSON: THumB, HAT, nocaps-FOIL, and pairs with distracted captions.

An `AnnotationError` says which file cannot be read, and which of its entries has another shape.
Where files name pictures, image ids are the stems of these names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...errors import AnnotationError
from ...io.containers import entries_of
from ...io.entries import Entries, Entry
from ...io.image_ids import ImageId, match, mismatch
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


def read_thumb(folder: Path) -> Ratings:
    """Read THumB 1.0: captions of COCO rated for precision and recall (Kasai et al., NAACL 2022).

    Two JSON Lines files belong together by ``seg_id``::

        {"SYS": "Up-Down", "seg_id": "2690", "hyp": "A large body of water filled with boats.",
         "image": "COCO_val2014_000000002690.jpg", "P": 5.0, "R": 3.0, "human_score": 4.0}

        {"seg_id": "2690", "refs": ["A large number of small boats ...", "..."]}

    The subsets are the ``"machine"`` captions, and ``"all"`` with those that people wrote.
    """
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


def read_hat(path: Path) -> Hallucinations:
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


def read_nocaps_foil(path: Path) -> Hallucinations:
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


def read_distractors(
    path: Path, references: Mapping[ImageId, Sequence[str]] | None = None
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
        own = tuple(entry.texts("references")) if "references" in entry else ()
        judged.append(Judged(image_id, (entry["correct"], entry["distractor"]), own))
        kinds.append(entry["kind"])
    if references is not None:
        lacking = [pair.image_id for pair in judged if not pair.references]
        known = match(lacking, references)
        unknown = [image_id for image_id in lacking if image_id not in known]
        if unknown:
            raise mismatch(unknown, references, str(path), "the reference side")
        judged = [
            pair
            if pair.references
            else replace(pair, references=tuple(references[known[pair.image_id]]))
            for pair in judged
        ]
    return Choices(path.stem, judged, np.ones(len(judged)), kinds)


def _entries(path: Path) -> Entries:
    entries = entries_of(path, AnnotationError)
    if not entries:
        raise AnnotationError(f"{path}: is an empty list; get the published file again.")
    return entries


def _of_image(entry: Entry, *captions: str) -> Judged:
    image_id = image_id_of(entry.text("image_path"))
    return Judged(image_id, captions, tuple(entry.texts("references")))
