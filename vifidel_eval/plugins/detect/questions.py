"""Questions about images: one for each thing that a caption mentions and no answer is about."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...annotations import clean_label
from ...captions.fields import CaptionFields
from ...doors.arguments import check_whole, name_wrong_argument
from ...errors import CaptionError, VifidelError
from ...io.containers import entries_of
from ...io.entries import shows
from ...io.image_ids import ImageId, match, to_json_value
from ...run.reading import PathLike, Systems, by_name, read_captions
from ...scores.alignment import System
from ...words.content_words import STOP_WORDS
from ...words.mentions import MentionFinder
from ...words.synonyms import ClassList, read_things

_ThingsByImage = dict[ImageId, list[str]]


@name_wrong_argument
def questions(
    systems: Systems,
    *,
    answers: PathLike | Sequence[Mapping[str, Any]] | None = None,
    controls: int = 0,
    seed: int = 0,
    things: ClassList | PathLike | None = None,
    only_things: ClassList | PathLike | None = None,
    id_field: Collection[str] = (),
    caption_field: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Return the questions about each image whose answers judge captions.

    There is one question per image and thing that a caption of any system mentions, with the name
    of its class in the object vocabulary, in the order of mention.

    Parameters
    ----------
    systems : mapping, path or paths
        All systems that will be compared, as `vifidel_eval.evaluate` takes them.
    answers : path or list of dict, optional
        Answers so far, which are not asked for again, as `read_answered` takes them.
    controls, seed : int
        How many more things to ask about for each image that only captions of other images mention,
        and the seed of their choice. Their answers show how often *yes* is wrong. They have
        ``"control": True``.
    things, only_things : path or ClassList, optional
        More names of things, and names instead of the package's own, as the metrics take them.
    id_field, caption_field : collection of str
        The names of image ids and captions, if they are not the usual ones.

    If something cannot be read, no caption mentions a thing, `controls` or `seed` is negative, or
    most of the answers are about other captions, that is a `VifidelError`.

    >>> questions({"mine": {7: "two puppies by a lamp"}})
    [{'image_id': 7, 'thing': 'dog'}, {'image_id': 7, 'thing': 'lamp'}]
    """
    check_whole(0, controls=controls, seed=seed)
    classes = read_things(things, only_things)
    mentioned = _mentioned(systems, classes, CaptionFields(tuple(id_field), tuple(caption_field)))
    chosen = _controls(mentioned, controls, seed)
    replies = {} if answers is None else read_answered(answers, classes)
    answered = {mine: replies[theirs] for theirs, mine in match(replies, mentioned).items()}
    # Some questions may be open, and some answers about what other systems mentioned.
    asked = {i: {*mentioned[i], *chosen[i]} for i in mentioned}
    matched = sum(len(asked[i].intersection(done)) for i, done in answered.items())
    numbers = [sum(map(len, side.values())) for side in (replies, asked)]
    if 2 * matched < min(numbers):
        raise VifidelError(
            f"{answers}: {matched} of {numbers[0]} answers belong to the {numbers[1]} questions "
            "about these captions; give the answers to these questions."
        )
    return [
        {"image_id": to_json_value(image_id), "thing": name, **extra}
        for image_id, of_image in mentioned.items()
        for names, extra in ((of_image, {}), (chosen[image_id], {"control": True}))
        for name in names
        if name not in answered.get(image_id, ())
    ]


@name_wrong_argument
def read_answered(
    answers: PathLike | Sequence[Mapping[str, Any]], classes: ClassList
) -> dict[ImageId, set[str]]:
    """Return the answers about each image, by the names of the classes.

    Answers are lines with ``image_id``, ``thing`` and ``answer`` or ``score``, or detections of a
    run that was asked (``asked``); anything else is a `VifidelError`.
    """
    answered: dict[ImageId, set[str]] = {}
    for entry in entries_of(answers, VifidelError, "answers"):
        if "vifidel_eval" in entry or "problem" in entry:
            continue  # a header, or a picture that could not be read
        of_image = answered.setdefault(entry.image_id(), set())
        if "asked" in entry:
            names = entry.texts("asked")
        else:
            is_open = entry.get("answer") in (None, "") and entry.get("score") is None
            names = [entry.text("thing")][is_open:]
        of_image.update(class_of(name, classes) for name in names)
    return answered


def class_of(name: str, classes: ClassList) -> str:
    """Return the class of a thing, or its own cleaned name if the vocabulary does not have it."""
    cleaned = clean_label(name)
    return classes.class_of.get(classes.name_of(cleaned) or cleaned, cleaned)


@name_wrong_argument
def read_asked(
    files: Sequence[Path],
    *,
    things: ClassList | PathLike | None = None,
    only_things: ClassList | PathLike | None = None,
    id_field: Collection[str] = (),
    caption_field: Collection[str] = (),
) -> _ThingsByImage:
    """Return what to ask about each image, from caption files and files of questions.

    The latter hold what `questions` gave, one JSON object per line; the names of things and the
    fields are as for `questions`. If a file cannot be read, or there is nothing to ask, that is a
    `VifidelError`.
    """
    asked: _ThingsByImage = {}
    captions = []
    for path in files:
        may_ask = os.fspath(path) != "-" and path.suffix.lower() in (".jsonl", ".ndjson")
        entries = entries_of(path, VifidelError) if may_ask else None
        if entries is None or not shows(entries.values, ["[].thing"]):
            captions.append(path)
            continue
        listed: _ThingsByImage = {}
        for entry in entries:
            listed.setdefault(entry.image_id(), []).append(entry.text("thing"))
        _unite(asked, listed)
    if captions:
        fields = CaptionFields(tuple(id_field), tuple(caption_field))
        _unite(asked, _mentioned(captions, read_things(things, only_things), fields))
    return asked


@name_wrong_argument
def read_controls(path: PathLike) -> _ThingsByImage:
    """Return the things that are controls, by image, of a file of questions or of their answers.

    Controls have ``"control": true``; without any, that is a `VifidelError`.
    """
    controls: _ThingsByImage = {}
    for entry in entries_of(path, VifidelError):
        image_id, thing = entry.image_id(), entry.text("thing")
        if entry.get("control") is True:
            controls.setdefault(image_id, []).append(thing)
    if not controls:
        raise VifidelError(
            f'{path}: no line has "control": true; write the questions with --controls N.'
        )
    return controls


def named_by_several(
    references: Mapping[ImageId, Sequence[str]],
    least: int = 3,
    only_things: ClassList | PathLike | None = None,
) -> dict[ImageId, set[str]]:
    """Return the things that so many references of an image name: they are almost surely there.

    >>> named_by_several({7: ["a dog by a lamp", "a puppy", "a dog on a bed"]})
    {7: {'dog'}}
    """
    finder = MentionFinder(read_things(only_things=only_things))
    named_of = {}
    for image_id, of_image in references.items():
        counts = Counter(name for text in of_image for name in set(_classes_in(finder, text)))
        named_of[image_id] = {name for name, count in counts.items() if count >= least}
    return named_of


def _mentioned(systems: Systems, classes: ClassList, fields: CaptionFields) -> _ThingsByImage:
    """Return the classes that captions mention, by image."""
    captions, _ = read_captions(by_name(systems), None, fields)
    mentioned = mentioned_in(captions, classes)
    if not any(mentioned.values()):
        raise CaptionError(
            "no caption mentions a thing of the object vocabulary, so there is nothing to ask; are "
            "the captions in English?"
        )
    return mentioned


def mentioned_in(systems: Iterable[System], classes: ClassList) -> dict[ImageId, list[str]]:
    """Return the classes that any caption of an image mentions, however systems spell its id."""
    finder = MentionFinder(classes)
    mentioned: dict[ImageId, list[str]] = {}
    for system in systems:
        _unite(mentioned, {i: _classes_in(finder, text) for i, text in system.captions.items()})
    return mentioned


def _unite(asked: dict[ImageId, list[str]], more: Mapping[ImageId, Sequence[str]]) -> None:
    """Add things to ask about; images may be named in another way."""
    own_ids = match(more, asked)
    for image_id, things in more.items():
        of_image = asked.setdefault(own_ids.get(image_id, image_id), [])
        of_image += [name for name in dict.fromkeys(things) if name not in of_image]


def _classes_in(finder: MentionFinder, caption: str) -> list[str]:
    """Return the classes that a caption mentions, each as often as it does."""
    return [claim.category or "" for claim in finder.read(caption, STOP_WORDS).claims]


def _controls(mentioned: _ThingsByImage, number: int, seed: int) -> _ThingsByImage:
    """Return, for each image, things that only captions of other images mention."""
    everything = sorted({name for of_image in mentioned.values() for name in of_image})
    chosen: _ThingsByImage = {}
    for image_id, of_image in mentioned.items():
        # Only `random` gives the same numbers in every version of Python.
        source = random.Random(f"{seed}:{to_json_value(image_id)}")
        controls: dict[str, None] = {}
        while len(controls) < min(number, len(everything) - len(of_image)):
            name = everything[int(source.random() * len(everything))]
            if name not in of_image:
                controls[name] = None
        chosen[image_id] = list(controls)
    return chosen
