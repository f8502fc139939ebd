"""Questions about images: one for each thing that a caption mentions and no answer is about."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...annotations import clean_label
from ...captions.fields import Wanted
from ...errors import CaptionError, VifidelError
from ...io.arguments import check_whole, named_if_wrong
from ...io.files import parse_json_lines, read_text
from ...io.image_ids import ImageId, from_json_value, match, to_json_value
from ...run.plan import PathLike, Systems, named, read_captions
from ...words.content_words import STOP_WORDS
from ...words.mentions import MentionFinder
from ...words.synonyms import ClassList, read_things
from .detected_objects import mentioned_in

_AskedOf = dict[ImageId, list[str]]

_EXPECTED = (
    '{"image_id": 7, "thing": "lamp", "answer": "no"} (or a "score"), one per line, or what '
    "detect --ask wrote"
)


@named_if_wrong
def questions(
    systems: Systems,
    *,
    answers: PathLike | Sequence[Mapping[str, Any]] | None = None,
    controls: int = 0,
    seed: int = 0,
    things: ClassList | PathLike | None = None,
    id_field: Collection[str] = (),
    caption_field: Collection[str] = (),
) -> list[dict[str, Any]]:
    """Return what to ask about each image to judge what captions say of it.

    Each thing that a caption of any system mentions is asked about once per image, by the name of
    its class in the object vocabulary: *puppy* asks for a *dog*.

    Parameters
    ----------
    systems : mapping, path or paths
        All systems that will be compared, as `vifidel_eval.evaluate` takes them.
    answers : path or list of dict, optional
        What is answered already, which is not asked again: lines with ``image_id``, ``thing`` and
        ``answer`` or ``score``, or what ``vifidel-eval detect --ask`` wrote.
    controls : int
        How many things to ask about for each image besides, which captions of other images mention
        and no caption of this one does. Nearly all of them are not there, so that their answers
        say how often *yes* is wrong; they are easier than what a caption invents. They have
        ``"control": True``.
    seed : int
        Of the choice of controls; the same for an image whatever other images there are, as long as
        the things are the same.
    things : path or ClassList, optional
        The object vocabulary, by default the package's own.
    id_field, caption_field : collection of str
        What image ids and captions are called, where they have other than the usual names.

    Returns
    -------
    list of dict
        ``{"image_id": 7, "thing": "lamp"}``, by image in the order of the captions, then in the
        order of mention.

    Raises
    ------
    VifidelError
        If something cannot be read, no caption mentions a thing, `controls` or `seed` is negative,
        or most of the answers are about other captions.

    Examples
    --------
    >>> questions({"mine": {7: "two puppies by a lamp"}})
    [{'image_id': 7, 'thing': 'dog'}, {'image_id': 7, 'thing': 'lamp'}]
    """
    check_whole(0, controls=controls, seed=seed)
    classes = read_things(things)
    mentioned = _mentioned(systems, classes, Wanted(tuple(id_field), tuple(caption_field)))
    chosen = _controls(mentioned, controls, seed)
    answered: Mapping[ImageId, Collection[str]] = {}
    if answers is not None:
        known = read_answered(answers, classes)
        _check_matched(known, {i: [*mentioned[i], *chosen[i]] for i in mentioned}, str(answers))
        answered = {mine: known[theirs] for theirs, mine in match(known, mentioned).items()}
    asked: list[dict[str, Any]] = []
    for image_id, of_image in mentioned.items():
        done = answered.get(image_id, ())
        about = to_json_value(image_id)
        asked += [{"image_id": about, "thing": name} for name in of_image if name not in done]
        asked += [
            {"image_id": about, "thing": name, "control": True}
            for name in chosen[image_id]
            if name not in done
        ]
    return asked


@named_if_wrong
def read_answered(
    answers: PathLike | Sequence[Mapping[str, Any]], classes: ClassList
) -> dict[ImageId, set[str]]:
    """Return what was answered about each image, by the names of the classes.

    Parameters
    ----------
    answers : path or list of dict
        Lines with ``image_id``, ``thing`` and ``answer`` or ``score``; or detections of a run that
        was asked (``asked``). A question without an answer is one that is still open.
    classes : ClassList
        The object vocabulary.

    Raises
    ------
    VifidelError
        If it cannot be read or holds something else.
    """
    if isinstance(answers, str | os.PathLike):
        where = str(answers)
        lines, numbers = parse_json_lines(read_text(answers, VifidelError), where, VifidelError)
    else:
        where, lines = "answers", list(answers)
        numbers = list(range(1, len(lines) + 1))
    answered: dict[ImageId, set[str]] = {}
    for number, line in zip(numbers, lines, strict=True):
        if isinstance(line, Mapping) and ("vifidel_eval" in line or "problem" in line):
            continue  # a header, or a picture that could not be read
        image_id = from_json_value(line.get("image_id")) if isinstance(line, Mapping) else None
        things = None if image_id is None else _things(line)
        if image_id is None or things is None:
            raise VifidelError(f"{where}: line {number} is no answer; expected {_EXPECTED}.")
        cleaned = map(clean_label, things)
        of_image = answered.setdefault(image_id, set())
        of_image.update(classes.class_of.get(name, name) for name in cleaned)
    return answered


def _things(line: Mapping[str, Any]) -> Iterable[str] | None:
    """Return the things that a line answers; None if it is no such line."""
    thing, asked = line.get("thing"), line.get("asked")
    if isinstance(thing, str):
        is_open = line.get("answer") in (None, "") and line.get("score") is None
        return [] if is_open else [thing]
    if isinstance(asked, list) and all(isinstance(name, str) for name in asked):
        return asked
    return None


@named_if_wrong
def read_asked(
    files: Sequence[Path],
    things: ClassList | PathLike | None = None,
    *,
    id_field: Collection[str] = (),
    caption_field: Collection[str] = (),
) -> _AskedOf:
    """Return what to ask about each image, from caption files and files of questions.

    Parameters
    ----------
    files : sequence of path
        Caption files, or what `questions` gave, one JSON object per line.
    things, id_field, caption_field : optional
        As for `questions`.

    Raises
    ------
    VifidelError
        If a file cannot be read, or there is nothing to ask.
    """
    fields = Wanted(tuple(id_field), tuple(caption_field))
    asked: _AskedOf = {}
    captions = []
    for path in files:
        listed = _listed_questions(path)
        if listed is None:
            captions.append(path)
        else:
            _unite(asked, listed)
    if captions:
        _unite(asked, _mentioned(captions, read_things(things), fields))
    return asked


@named_if_wrong
def read_controls(path: PathLike) -> _AskedOf:
    """Return the things that are controls, by image, of a file of questions or of their answers.

    Parameters
    ----------
    path : path
        What `questions` gave, one JSON object per line, or the same lines with answers: controls
        have ``"control": true``.

    Raises
    ------
    VifidelError
        If it cannot be read, is something else, or has no control.
    """
    lines, numbers = parse_json_lines(read_text(path, VifidelError), str(path), VifidelError)
    controls: _AskedOf = {}
    for image_id, thing, line in _question_lines(lines, numbers, path):
        if line.get("control") is True:
            controls.setdefault(image_id, []).append(thing)
    if not controls:
        raise VifidelError(
            f'{path}: no line has "control": true; write the questions with --controls N.'
        )
    return controls


def _check_matched(
    answered: Mapping[ImageId, Collection[str]],
    asked: Mapping[ImageId, Collection[str]],
    where: str,
) -> None:
    """Raise if answers and questions have little in common: they belong to other captions.

    Some questions may be open, and some answers about what other systems mentioned.

    Raises
    ------
    VifidelError
        If less than half of the answers, and of the questions, have a counterpart.
    """
    answers, questions = (sum(map(len, side.values())) for side in (answered, asked))
    matched = sum(
        len(set(answered[theirs]).intersection(asked[mine]))
        for theirs, mine in match(answered, asked).items()
    )
    if 2 * matched < min(answers, questions):
        raise VifidelError(
            f"{where}: {matched} of {answers} answers belong to the {questions} questions about "
            "these captions; give the answers to these."
        )


def named_by_several(
    references: Mapping[ImageId, Sequence[str]],
    least: int = 3,
    things: ClassList | PathLike | None = None,
) -> dict[ImageId, set[str]]:
    """Return the things that several references of an image name: they are almost surely there.

    Parameters
    ----------
    references : mapping
        Image id to its references.
    least : int
        How many of them have to name a thing.
    things : optional
        The object vocabulary.

    Examples
    --------
    >>> named_by_several({7: ["a dog by a lamp", "a puppy", "a dog on a bed"]})
    {7: {'dog'}}
    """
    finder = MentionFinder(read_things(things))
    named_of = {}
    for image_id, of_image in references.items():
        counts = Counter(name for text in of_image for name in set(_classes_in(finder, text)))
        named_of[image_id] = {name for name, count in counts.items() if count >= least}
    return named_of


def _classes_in(finder: MentionFinder, caption: str) -> list[str]:
    units = finder.units(caption, STOP_WORDS)
    return [unit.category for unit in units if unit.category is not None]


def _mentioned(systems: Systems, classes: ClassList, fields: Wanted) -> _AskedOf:
    """Return the classes that captions mention, by image."""
    read, _ = read_captions(named(systems), None, fields)
    mentioned = mentioned_in(read, classes)
    if not any(mentioned.values()):
        raise CaptionError(
            "no caption mentions a thing of the object vocabulary, so there is nothing to ask; are "
            "the captions in English?"
        )
    return mentioned


def _unite(asked: _AskedOf, more: Mapping[ImageId, Sequence[str]]) -> None:
    """Add things to ask about; images may be named in another way."""
    same = match(more, asked)
    for image_id, things in more.items():
        of_image = asked.setdefault(same.get(image_id, image_id), [])
        of_image += [name for name in dict.fromkeys(things) if name not in of_image]


def _controls(mentioned: _AskedOf, number: int, seed: int) -> _AskedOf:
    """Return, for each image, things that only captions of other images mention."""
    everything = sorted({name for of_image in mentioned.values() for name in of_image})
    chosen: _AskedOf = {}
    for image_id, of_image in mentioned.items():
        possible = len(everything) - len(of_image)
        draws = _endless(everything, f"{seed}:{to_json_value(image_id)}")
        kept: dict[str, None] = {}
        while len(kept) < min(number, possible):
            name = next(draws)
            if name not in of_image:
                kept[name] = None
        chosen[image_id] = list(kept)
    return chosen


def _endless(names: Sequence[str], seed: str) -> Iterator[str]:
    # Only `random` gives the same numbers in every version of Python.
    source = random.Random(seed)
    while True:
        yield names[int(source.random() * len(names))]


def _listed_questions(path: Path) -> _AskedOf | None:
    """Return the questions in a file; None if it is no file of questions."""
    if os.fspath(path) == "-" or path.suffix.lower() not in (".jsonl", ".ndjson"):
        return None
    lines, numbers = parse_json_lines(read_text(path, VifidelError), str(path), VifidelError)
    if not lines or not isinstance(lines[0], dict) or "thing" not in lines[0]:
        return None
    asked: _AskedOf = {}
    for image_id, thing, _ in _question_lines(lines, numbers, path):
        asked.setdefault(image_id, []).append(thing)
    return asked


def _question_lines(
    lines: Sequence[Any], numbers: Sequence[int], path: PathLike
) -> Iterator[tuple[ImageId, str, Mapping[str, Any]]]:
    """Yield image, thing and all of each question; raise if a line is none."""
    for number, line in zip(numbers, lines, strict=True):
        image_id = from_json_value(line.get("image_id")) if isinstance(line, dict) else None
        thing = line.get("thing") if isinstance(line, dict) else None
        if image_id is None or not isinstance(thing, str) or not thing.strip():
            raise VifidelError(
                f"{path}: line {number} is no question; write "
                '{"image_id": 7, "thing": "lamp"}, one per line.'
            )
        yield image_id, thing, line
