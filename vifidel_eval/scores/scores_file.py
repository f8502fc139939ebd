"""The file that ``score --output`` writes, and back: scores, and how systems compare."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields
from typing import Any, TypeVar

import numpy as np

from ..errors import MetricUnavailable, VifidelError
from ..evaluation import COUNTS, Evaluation, Floats, Statistics
from ..io.digits import for_json, from_json, in_full, number_texts, rounded
from ..io.files import json_text, printable, read_json
from ..io.image_ids import ImageId, from_json_value, to_json_value
from ..scorers.registry import METRICS
from ..scorers.word_supports import WordDetails
from .comparison import Comparison, Comparisons, Pair, Standing, with_ranks
from .harness import Scores, counts_of
from .inputs import Inputs
from .remarks import Calibrated, People
from .significance import EqualLength

# The form of the file; another one would get another number.
_FORM = 1

# Stands for the images of a system until their text is there.
_PLACE = "images"
_IMAGES = re.compile(f'(?<="imgToEval": )"{_PLACE}"')

_Record = TypeVar(
    "_Record", Standing, Pair, EqualLength, Comparison, Comparisons, People, Calibrated
)


def scores_text(scores: Scores, comparisons: Comparisons | None = None) -> str:
    """Return the text of the file, JSON; undefined scores are null.

    ``{"scores": 1, "signatures": {COLUMN: signature}, "systems": {NAME: {"overall": {COLUMN:
    score}, "counts": {COLUMN: {"scored": 5, "undefined": 1, ...}}, "imgToEval": {"ID":
    {"image_id": ID, COLUMN: score}}}}}``; ``"overall"`` has all digits of the scores, all else
    ten, and ``"scores"`` is the number of this form. Columns where lower is
    better are listed under ``"lower_is_better"``, those by which no system is better under
    ``"unranked"``, metrics that could not be computed under ``"unavailable"``, with the reason.
    A metric may say more of an image: CHAIR its words and categories, under ``"CHAIR"``.
    Where the images that a corpus score leaves out are not those without a score, their ids
    are under ``"left_out"`` of the system: ``{COLUMN: [ID]}``. What corpus scores follow from that
    are no means (BLEU's, CHAIR's, VIFIDEL-H's) is under ``"statistics"``: ``[{"columns": [COLUMN],
    "of_images": ["4 0 null ...", ...]}]`` with a text for each count, which has a number for each
    image in their order; null where one is left out.
    Under ``"uncaptioned"`` is how many images were left out as no system has a caption of them.
    How people's captions were made, and their rates, is under ``"people"``; what was estimated
    of the errors of answers is under ``"calibrated"``, by system; how systems compare is under
    ``"comparison"``, as `Comparisons.to_json` has it. What the run was made from is under
    ``"inputs"``, as `Inputs.to_json` has it, if all of it were files.

    The images are most of it, and are written column by column: an encoder of JSON takes five
    times as long for them.
    """
    columns = scores.columns()
    document: dict[str, Any] = {
        "scores": _FORM,
        "signatures": scores.signatures,
        "lower_is_better": [column.name for column in columns if column.lower_is_better],
        "unranked": [column.name for column in columns if not column.ranked],
        "systems": {
            name: {
                "overall": {column: in_full(e.score) for column, e in of_column.items()},
                "counts": {column: counts_of(e) for column, e in of_column.items()},
                **_left_out(of_column),
                **_statistics(of_column),
                "imgToEval": _PLACE,
            }
            for name, of_column in scores.evaluations.items()
        },
        "people": scores.people and for_json(asdict(scores.people)),
        "calibrated": {name: for_json(asdict(rate)) for name, rate in scores.calibrated.items()},
        "unavailable": {name: str(why) for name, why in scores.unavailable.items()},
        "uncaptioned": scores.uncaptioned,
        "inputs": scores.inputs and scores.inputs.to_json(),
        "comparison": comparisons and comparisons.to_json(),
    }
    always = ("scores", "signatures", "systems")
    document = {key: value for key, value in document.items() if value or key in always}
    images = map(_images_text, scores.evaluations.values())
    return _IMAGES.sub(lambda _: next(images), json_text(document))


def _left_out(of_column: Mapping[str, Evaluation]) -> dict[str, dict[str, list[Any]]]:
    """Return what a file says of the images that corpus scores leave out, if it must."""
    left_out = {
        column: [to_json_value(e.ids[at]) for at in np.flatnonzero(e.missing).tolist()]
        for column, e in of_column.items()
        if not np.array_equal(e.missing, np.isnan(e.scores))
    }
    return {"left_out": left_out} if left_out else {}


def _statistics(of_column: Mapping[str, Evaluation]) -> dict[str, list[dict[str, Any]]]:
    """Return what a file says of the counts of images from which corpus scores follow.

    A list of them is one text, which is a line of its own: a list of JSON would be a line a number.
    """
    columns_of: dict[str, list[str]] = {}
    for column, e in of_column.items():
        if e.statistics is not None:
            texts = (_whole_texts(counts) for counts in e.statistics.of_rows.T.tolist())
            columns_of.setdefault("\n".join(texts), []).append(column)
    found = [
        {"columns": columns, "of_images": text.split("\n")} for text, columns in columns_of.items()
    ]
    return {"statistics": found} if found else {}


def _whole_texts(counts: Iterable[float]) -> str:
    """Return numbers with blanks between them, whole ones without a point.

    >>> _whole_texts([3.0, 0.5, float("nan")])
    '3 0.5 null'
    """
    return " ".join(text.removesuffix(".0") for text in number_texts(counts))


def _images_text(of_column: Mapping[str, Evaluation]) -> str:
    """Return what the file says of a system's images."""
    ids = next(iter(of_column.values())).ids
    fields = {"image_id": _each(map(to_json_value, ids))}
    for column, evaluation in of_column.items():
        fields[column] = number_texts(evaluation.scores.tolist())
        for name, values in evaluation.details.items():
            texts = (
                values.json_texts()
                if isinstance(values, WordDetails)
                else ("[]" if value == [] else json_text(for_json(value)) for value in values)
            )
            fields[name] = [text.replace("\n", "\n     ") for text in texts]
    names = ",\n".join(f"     {json_text(name)}: ".replace("%", "%%") + "%s" for name in fields)
    row = f"    %s: {{\n{names}\n    }}"
    rows = dict(zip(map(str, ids), zip(*fields.values(), strict=True), strict=True))
    written = zip(_each(rows), rows.values(), strict=True)
    text = ",\n".join([row % (key, *texts) for key, texts in written])
    return f"{{\n{text}\n   }}" if rows else "{}"


def _each(values: Iterable[str | float]) -> list[str]:
    """Return what `json_text` makes of each number or string; no JSON of these has a line break."""
    lines = json.dumps([*values], allow_nan=False, ensure_ascii=False, separators=("\n", ":"))
    return printable(lines[1:-1]).split("\n") if len(lines) > 2 else []


def read_scores(path: str | os.PathLike[str]) -> tuple[Scores, Comparisons | None]:
    """Read what ``score --output`` wrote; what is written from it again is the same file.

    Corpus scores are as computed, other numbers have the ten significant digits of the file. What
    is not in the file is missing: tallies of words and, of version 0.2.0, the statistics from which
    the corpus scores of BLEU, CHAIR and VIFIDEL-H follow. Those of a metric that is not installed
    have `no_formula`. Comparisons are those of ``--compare``, if there were some.

    Raises a VifidelError if the file cannot be read, is another one, is damaged, or was written by
    a newer version.
    """
    content = read_json(path, VifidelError)
    if not isinstance(content, dict) or not {"signatures", "systems"} <= content.keys():
        raise VifidelError(
            f"{path}: {_what_it_is(content)}; give a file that score --output wrote."
        )
    form = content.get("scores", _FORM)  # version 0.1.0 wrote no number
    if type(form) is int and form > _FORM:
        raise VifidelError(
            f"{path}: was written by a newer version of vifidel-eval; update this one."
        )
    try:
        if type(form) is not int or form < 1:
            raise ValueError(f"the form {form!r}")
        scores = _scores(content)
        comparison = content.get("comparison")
        return scores, None if comparison is None else _comparisons(comparison, scores)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as problem:
        said = f"{problem.args[0]!r} is missing" if isinstance(problem, KeyError) else problem
        raise VifidelError(
            f"{path}: the scores are damaged ({said}); restore the file or score again."
        ) from None


def _what_it_is(content: Any) -> str:
    if isinstance(content, dict):
        if "leaderboard" in content:
            return "is a leaderboard, which the command leaderboard prints"
        if "annotations" in content or "images" in content:
            return "holds a dataset's annotations, not scores"
    entry = content[0] if isinstance(content, list) and content else None
    if isinstance(entry, dict) and "caption" in entry:
        return "holds captions, not scores"
    return "holds no scores"


def _scores(content: Mapping[str, Any]) -> Scores:
    signatures = {str(column): _text(text) for column, text in content["signatures"].items()}
    lower, unranked = (set(content.get(key, ())) for key in ("lower_is_better", "unranked"))
    evaluations = {}
    for name, system in content["systems"].items():
        rows = list(system["imgToEval"].values())
        ids = [_image_id(row) for row in rows]
        if len(set(ids)) < len(ids):
            raise ValueError(f"an image appears twice under the system {name!r}")
        left_out = {column: set(some) for column, some in system.get("left_out", {}).items()}
        details = _details(rows, list(signatures))
        statistics = _read_statistics(system, signatures, len(ids))
        evaluations[str(name)] = {
            column: Evaluation(
                ids,
                np.array([_number(row[column]) for row in rows], dtype=np.float64),
                lower_is_better=column in lower,
                ranked=column not in unranked,
                corpus_score=from_json(system["overall"][column]),
                statistics=statistics.get(column),
                counts=_counts(system["counts"][column]),
                signature=signature,
                details=details.get(column, {}),
                left_out=np.array([image_id in left_out[column] for image_id in ids], dtype=bool)
                if column in left_out
                else None,
            )
            for column, signature in signatures.items()
        }
    if not signatures or not evaluations:
        raise ValueError("there is no system, or no score")
    unavailable = {
        str(name): MetricUnavailable(_text(why))
        for name, why in content.get("unavailable", {}).items()
    }
    people, inputs = content.get("people"), content.get("inputs")
    return Scores(
        signatures,
        evaluations,
        unavailable,
        None if people is None else _people(people),
        {str(name): _calibrated(rate) for name, rate in content.get("calibrated", {}).items()},
        _whole(content.get("uncaptioned", 0)),
        None if inputs is None else Inputs.from_json(inputs),
    )


def _read_statistics(
    system: Mapping[str, Any], signatures: Mapping[str, str], images: int
) -> dict[str, Statistics]:
    """Return the counts of a system's images, by column."""
    found = {}
    for of_columns in system.get("statistics", ()):
        counts = [
            [math.nan if number == "null" else _number(float(number)) for number in text.split()]
            for text in of_columns["of_images"]
        ]
        if any(len(of_count) != images for of_count in counts):
            raise ValueError(f"the counts of {of_columns['columns']!r:.40} are of other images")
        for column in of_columns["columns"]:
            known = METRICS.column(column, signatures[column])
            of_sums = None if known is None else known.of_sums
            found[column] = Statistics(np.array(counts).T, of_sums or no_formula)
    return found


def no_formula(sums: Floats) -> Floats:
    """Stand for the formula of a metric that is not installed: the scores of sums are undefined."""
    return np.full(np.shape(sums)[:-1], np.nan)


def _details(rows: list[Any], columns: list[str]) -> dict[str, dict[str, list[Any]]]:
    """Return what rows hold beside scores, by the column that each stands behind."""
    details: dict[str, dict[str, list[Any]]] = {}
    before = ""
    for key in rows[0] if rows else ():
        if key in columns:
            before = key
        elif key != "image_id":
            details.setdefault(before, {})[key] = [row[key] for row in rows]
    return details


def _image_id(row: Mapping[str, Any]) -> ImageId:
    value = row["image_id"]
    image_id = value if isinstance(value, float) else from_json_value(value)
    if image_id is None:
        raise ValueError(f"the image id {value!r:.40}")
    return image_id


def _counts(counts: Mapping[str, Any]) -> dict[str, int]:
    """Return the counts of an evaluation; a file of another version may lack some of them."""
    for key, number in counts.items():
        if type(number) is not int or number < 0:
            raise ValueError(f"{key} is {number!r:.40}")
    return {count.key: counts[count.key] for count in COUNTS if count.key in counts}


def _number(value: Any) -> float:
    """Return a number of JSON with the digits that files hold, NaN for null."""
    number = rounded(from_json(value))
    return math.nan if number is None else number


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} where text was expected")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"the number {value!r:.40}")
    return value


# How a field of a record is read, by its type.
_FIELDS: dict[str, Callable[[Any], Any]] = {
    "float": _number,
    "int": _whole,
    "str": _text,
    "bool": bool,
    "int | None": lambda value: None if value is None else _whole(value),
    "str | None": lambda value: None if value is None else _text(value),
}


def _record(kind: type[_Record], content: Mapping[str, Any], **given: Any) -> _Record:
    """Return a record with fields of the content, but for those that are given."""
    for field in fields(kind):
        if field.name not in given:
            try:
                given[field.name] = _FIELDS[str(field.type)](content[field.name])
            except ValueError as problem:
                raise ValueError(f"{field.name}: {problem}") from None
    return kind(**given)


def _people(content: Mapping[str, Any]) -> People:
    rates = {str(name): float(rate) for name, rate in content["rates"].items()}
    return _record(People, content, words=float(content["words"]), rates=rates)


def _calibrated(content: Mapping[str, Any]) -> Calibrated:
    low, high = map(_number, content["interval"])
    found = _record(Calibrated, content, interval=(low, high))
    for share in (found.measured, found.corrected, low, high, found.false_yes, found.false_no):
        if not (math.isnan(share) or 0 <= share <= 1):
            raise ValueError(f"the share {share!r}")
    return found


def _comparisons(content: Mapping[str, Any], scores: Scores) -> Comparisons:
    metrics = {}
    for name, given in content["metrics"].items():
        if name not in scores.signatures:
            raise ValueError(f"{name!r:.40} is compared and has no score")
        systems = {
            str(system): _record(Standing, standing)
            for system, standing in given["systems"].items()
        }
        pairs = tuple(_pair(pair, systems) for pair in given["pairs"])
        of_metric = {"lower_is_better": False, "ranked": True, **given}
        metrics[str(name)] = _record(
            Comparison, of_metric, metric=str(name), systems=systems, pairs=pairs
        )
    left_out = tuple(map(_text, content.get("left_out", ())))
    # Version 0.2.0 had one number of resamples, and ranks however few these were.
    content = {"baseline": None, "interval_resamples": content["resamples"], **content}
    return with_ranks(_record(Comparisons, content, metrics=metrics, left_out=left_out))


def _pair(content: Mapping[str, Any], systems: Mapping[str, Standing]) -> Pair:
    remains = content.get("equal_length")
    at_equal_length = None if remains is None else _record(EqualLength, remains)
    pair = _record(Pair, content, equal_length=at_equal_length)
    for name in (pair.first, pair.second, *([] if pair.winner is None else [pair.winner])):
        if name not in systems:
            raise ValueError(f"the system {name!r:.40} of a pair")
    return pair
