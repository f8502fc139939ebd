"""Answers to *is it there?*, of models and of benchmarks.

- Answers of any vision-language model are JSON Lines, one image and thing a line: ``{"image_id": 1,
  "thing": "nut", "answer": "no"}`` or ``{"image_id": 1, "thing": "nut", "score": 0.12}``.
- POPE's questions (Li et al., EMNLP 2023; https://github.com/AoiDragon/POPE) have their answer as
  ``label``: ``{"image": "COCO_val2014_000000000042.jpg", "text": "Is there a snowboard in the
  image?", "label": "yes"}``.
- AMBER's ``annotations.json`` (Wang et al., 2023; https://github.com/junyangwang0410/AMBER) is a
  list with, for each generative task, ``{"id": 1, "type": "generative", "truth": ["sky", ...],
  "hallu": ["cloud", ...]}``: things that are in image 1, and things that are not and that models
  name. Entries of other types are about one question each and have no list of things.
- Woodpecker's samples (Yin et al., 2023; ``models/detector.py`` of
  https://github.com/BradyFU/Woodpecker) have what its detector looked for: ``img_path`` and
  ``entity_info``, ``{"dog": {"total_count": 1, "bbox": [[...]]}, "nut": {"total_count": 0, ...}}``.
  A box is left, top, right and bottom in shares of the image's sides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import AnnotationError
from .format import Format, Way, entries, first_key, image_id_of
from .instances import Instances, from_corners
from .listed import listed
from .objects import ObjectLabels
from .scores import ANSWER_THRESHOLD, check_score

# In the words of models: "Yes, there is one.", "No.", "I am not sure", "I cannot tell from here."
_YES_OR_NO = re.compile(r"(yes|no)\b(?! idea)")
_UNSURE = re.compile(
    r"(?:i(?:'m| am)? |it(?:'s| is) )?(?:unsure|uncertain|unclear|unknown|maybe|perhaps|no idea|"
    r"not (?:sure|certain|clear|possible)|can(?:'t|not| not) (?:tell|say|see|determine|be)|"
    r"(?:don't|do not) know|(?:hard|difficult|impossible) to)\b"
)


def said(answer: Any) -> bool | None:
    """Return what an answer in words means: there, not there, or None where it leaves that open.

    >>> said("Yes, there is a dog."), said("No."), said("I'm not sure")
    (True, False, None)
    """
    if isinstance(answer, bool):
        return answer
    if not isinstance(answer, str):
        raise ValueError
    text = answer.strip(" \t\n\"'*.").replace("\u2019", "'").lower()
    if _UNSURE.match(text):
        return None
    found = _YES_OR_NO.match(text)
    if not found:
        raise ValueError
    return found[1] == "yes"


def read_answers(records: list[Any], found: Instances) -> ObjectLabels:
    """Read one answer per record; *I cannot tell* is counted and says nothing."""
    found.counts_from(ANSWER_THRESHOLD)
    for at, record in entries(records, found.where):
        image_id = image_id_of(record, "image_id", at)
        of = f"{at} (image {image_id!r:.40})"
        if "thing" not in record:
            raise AnnotationError(f"{of}: 'thing' is missing.")
        found.answer(image_id, record["thing"], _answer(record, found, of), at)
    # An image whose captions mention nothing has no question, and so no answer.
    return found.object_labels("answers", lists_every_image=False, says_asked=True)


def _answer(record: Mapping[str, Any], found: Instances, of: str) -> bool | None:
    """Return what a record answers, in words or by its score."""
    if record.get("answer") is None and record.get("score") is not None:
        found.scored = True
        return found.there(check_score(record["score"], of))
    try:
        return said(record["answer"])
    except (KeyError, ValueError):
        about = f"about {record.get('thing')!r:.40} "
        given = f"is {record['answer']!r:.40}" if "answer" in record else "is missing"
        raise AnnotationError(
            f"{of}: the answer {about}{given}; write yes, no or unsure, or a 'score' from 0 to 1."
        ) from None


ANSWERS = Format(
    "answers",
    'answers `{"image_id": 1, "thing": "nut", "answer": "no"}` or `"score": 0.12`, JSON Lines',
    ".5, if there are scores",
    "only what was asked for can be absent; *yes*, *no* and *not sure* in the words of models; "
    "*not sure* is counted, and says nothing",
    (Way("list", ("[].thing", "[].answer [].score"), read_answers),),
)


_QUESTION = re.compile(
    r"\s*(?:is|are) there (?:(?:an?|any|the|some) )?(.+?) "
    r"in (?:the|this) (?:image|picture|photo)\W*",
    re.IGNORECASE,
)


def read_pope(records: list[Any], found: Instances) -> ObjectLabels:
    """Read POPE's questions; what each asks about is there or not, as its ``label`` says."""
    for at, record in entries(records, found.where):
        image_id = image_id_of(record, "image", at)
        question = _QUESTION.fullmatch(str(record.get("text")))
        if not question:
            raise AnnotationError(
                f"{at} (image {image_id!r:.60}): {record.get('text')!r:.60} is not a question of "
                "POPE's form, such as 'Is there a dog in the image?'."
            )
        try:
            there = said(record.get("label"))
        except ValueError:
            raise AnnotationError(
                f"{at} (image {image_id!r:.60}): the label is {record.get('label')!r:.40}; POPE's "
                "are yes and no."
            ) from None
        found.answer(image_id, question[1], there, at)
    return found.object_labels("pope", says_asked=True)


POPE = Format(
    "POPE",
    "POPE's questions with their answers, JSON Lines",
    "",
    "the answers of the benchmark itself; a model's go to *answers*",
    (Way("list", ("[].image=", "[].text", "[].label"), read_pope),),
)


def read_amber(content: list[Any], found: Instances) -> ObjectLabels:
    """Read the generative entries; a word in both lists is there."""
    for at, entry in entries(content, found.where):
        if entry.get("type") != "generative":
            continue
        image_id = image_id_of(entry, "id", at)
        found.image_once(image_id, at)
        found.asked_in(image_id)
        for key, there in (("truth", True), ("hallu", False)):
            if not isinstance(entry.get(key), list):
                raise AnnotationError(
                    f"{at} (image {image_id!r:.40}): {key!r} is not a list of things."
                )
            known = {name for name in entry["truth"] if not there and isinstance(name, str)}
            for name in entry[key]:
                if not isinstance(name, str) or name not in known:
                    found.answer(image_id, name, there, f"{at}: {key}")
    if not found.images:
        raise AnnotationError(
            f"{found.where}: no entry of type 'generative', which list what is in an image; give "
            "AMBER's annotations.json."
        )
    return found.object_labels("amber", says_asked=True)


AMBER = Format(
    "AMBER",
    "AMBER's `annotations.json`",
    "",
    "generative entries: `truth` is there, `hallu` is not; a word in both is there; image ids are "
    "AMBER's numbers",
    (Way("list", ("[].id", "[].type", "[].truth"), read_amber),),
)


_IMAGE = ("image_id", "img_path", "image")


def read_woodpecker(samples: list[Any], found: Instances) -> ObjectLabels:
    """Read the entities of each sample: their number, 0 for those that were not found."""
    key = first_key(samples, _IMAGE)
    for at, sample in entries(samples, found.where):
        image_id = image_id_of(sample, key, at)
        of = f"{at} (image {image_id!r:.60})"
        found.image_once(image_id, at)
        entities = sample.get("entity_info")
        if not isinstance(entities, Mapping):
            raise AnnotationError(f"{of}: 'entity_info' is not an object; write what was found.")
        for name, entity in entities.items():
            if not isinstance(entity, Mapping) or "total_count" not in entity:
                raise AnnotationError(f"{of}: {name!r:.40} has no 'total_count'; write a number.")
        found.asked_in(image_id)
        try:
            counted = list(listed({n: e["total_count"] for n, e in entities.items()}, found.lowest))
        except AnnotationError as problem:
            raise AnnotationError(f"{of}: {problem}") from None
        for one in counted:
            label = found.ask(image_id, one.name, of)
            if one.number:
                found.add(image_id, one.name, of, one.number)
            boxes = entities[one.name].get("bbox")
            for box in boxes if label and isinstance(boxes, list) else ():
                found.keep_box(image_id, label, from_corners(box), size=(1.0, 1.0))
    return found.object_labels("woodpecker", says_asked=True)


WOODPECKER = Format(
    "Woodpecker",
    "Woodpecker's samples with `entity_info`, a list or JSON Lines",
    "",
    "the image is `image_id`, `img_path` or `image`; a `total_count` of 0 is not there",
    (Way("list", ("[].entity_info",), read_woodpecker),),
)
