"""The file that ``score --output`` writes, and back: scores, and how systems compare."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..digits import for_json, number_texts, rounded
from ..errors import VifidelError
from ..evaluation import COUNTS, Evaluation
from ..files import json_text, printable, read_json
from ..image_ids import ImageId, from_json_value, to_json_value
from ..scorers.word_supports import WordDetails
from .calibrated import Calibrated
from .comparison import Comparison, Comparisons, Pair, Standing
from .equal_length import EqualLength
from .harness import FORM, Scores
from .people import People

# Stands for the images of a system until their text is there.
_PLACE = "images"
_IMAGES = re.compile(f'(?<="imgToEval": )"{_PLACE}"')


@dataclass(frozen=True, eq=False)
class Saved:
    """What a file of scores holds.

    Attributes
    ----------
    scores : Scores
        Corpus scores are as computed, other numbers have the ten significant digits of the file.
        What is not in the file is missing: tallies of words, and the statistics from which BLEU's
        and CHAIR's corpus scores follow.
    comparisons : Comparisons, optional
        Those of ``--compare``.
    """

    scores: Scores
    comparisons: Comparisons | None = None


def scores_document(scores: Scores, comparisons: Comparisons | None = None) -> dict[str, Any]:
    """Return what the file holds, for JSON.

    It is `Scores.to_json`, with `Comparisons.to_json` as ``"comparison"``.
    """
    document = scores.to_json()
    if comparisons is not None:
        document["comparison"] = comparisons.to_json()
    return document


def scores_text(scores: Scores, comparisons: Comparisons | None = None) -> str:
    """Return the text of the file: `scores_document` in JSON.

    The images are most of it, and are written column by column: an encoder of JSON takes five
    times as long for them.
    """
    images: list[str] = []

    def place_of(of_column: Mapping[str, Evaluation]) -> str:
        images.append(_images_text(of_column))
        return _PLACE

    document = scores.to_json(place_of)
    if comparisons is not None:
        document["comparison"] = comparisons.to_json()
    texts = iter(images)
    return _IMAGES.sub(lambda _: next(texts), json_text(document))


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


def read_scores(path: str | os.PathLike[str]) -> Saved:
    """Read what ``score --output`` wrote; what is written from it again is the same file.

    Raises
    ------
    VifidelError
        If the file cannot be read, is another one, is damaged, or was written by a newer version.
    """
    content = read_json(path, VifidelError)
    if not isinstance(content, dict) or not {"signatures", "systems"} <= content.keys():
        raise VifidelError(
            f"{path}: {_what_it_is(content)}; give a file that score --output wrote."
        )
    form = content.get("scores", FORM)  # version 0.1.0 wrote no number
    if type(form) is int and form > FORM:
        raise VifidelError(
            f"{path}: was written by a newer version of vifidel-eval; update this one."
        )
    try:
        if type(form) is not int or form < 1:
            raise ValueError(f"the form {form!r}")
        scores = _scores(content)
        comparison = content.get("comparison")
        return Saved(scores, None if comparison is None else _comparisons(comparison, scores))
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
        left_out = system.get("left_out", {})
        details = _details(rows, list(signatures))
        evaluations[str(name)] = {
            column: Evaluation(
                ids,
                np.array([_number(row[column]) for row in rows], dtype=np.float64),
                lower_is_better=column in lower,
                ranked=column not in unranked,
                corpus_score=_in_full(system["overall"][column]),
                counts=_counts(system["counts"][column]),
                signature=signature,
                details=details.get(column, {}),
                left_out=_among(ids, left_out[column]) if column in left_out else None,
            )
            for column, signature in signatures.items()
        }
    if not signatures or not evaluations:
        raise ValueError("there is no system, or no score")
    unavailable = {str(name): _text(why) for name, why in content.get("unavailable", {}).items()}
    people = content.get("people")
    return Scores(
        signatures,
        evaluations,
        unavailable,
        None if people is None else People.from_json(people),
        {
            str(system): Calibrated.from_json(rate)
            for system, rate in content.get("calibrated", {}).items()
        },
    )


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


def _among(ids: list[ImageId], some: list[Any]) -> Any:
    chosen = set(some)
    return np.array([image_id in chosen for image_id in ids], dtype=bool)


def _counts(counts: Mapping[str, Any]) -> dict[str, int]:
    """Return the counts of an evaluation; a file of another version may lack some of them."""
    for key, number in counts.items():
        if type(number) is not int or number < 0:
            raise ValueError(f"{key} is {number!r:.40}")
    return {count.key: counts[count.key] for count in COUNTS if count.key in counts}


def _in_full(value: Any) -> float:
    """Return a number of JSON, NaN for null."""
    if value is None:
        return math.nan
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"the score {value!r:.40}")
    return float(value)


def _number(value: Any) -> float:
    """Return a number of JSON with the digits that files hold, NaN for null."""
    number = rounded(_in_full(value))
    return math.nan if number is None else number


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} where text was expected")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"the number {value!r:.40}")
    return value


def _comparisons(content: Mapping[str, Any], scores: Scores) -> Comparisons:
    metrics = {}
    for name, of_metric in content["metrics"].items():
        if name not in scores.signatures:
            raise ValueError(f"{name!r:.40} is compared and has no score")
        systems = {
            str(system): Standing(
                **{key: _number(standing[key]) for key in ("score", "low", "high")},
                rank=None if standing["rank"] is None else _whole(standing["rank"]),
            )
            for system, standing in of_metric["systems"].items()
        }
        metrics[str(name)] = Comparison(
            str(name),
            systems,
            tuple(_pair(pair, systems) for pair in of_metric["pairs"]),
            _whole(of_metric["images"]),
            bool(of_metric["own_score"]),
            bool(of_metric.get("lower_is_better", False)),
            bool(of_metric.get("ranked", True)),
        )
    return Comparisons(
        metrics,
        _whole(content["seed"]),
        _whole(content["resamples"]),
        _number(content["level"]),
        tuple(map(_text, content.get("left_out", ()))),
        None if content.get("baseline") is None else _text(content["baseline"]),
    )


def _pair(pair: Mapping[str, Any], systems: Mapping[str, Standing]) -> Pair:
    first, second, winner = (pair[key] for key in ("first", "second", "winner"))
    for name in [first, second, *([] if winner is None else [winner])]:
        if name not in systems:
            raise ValueError(f"the system {name!r:.40} of a pair")
    return Pair(
        first,
        second,
        difference=_number(pair["difference"]),
        low=_number(pair["low"]),
        high=_number(pair["high"]),
        bootstrap_p=_number(pair["bootstrap_p"]),
        randomisation_p=_number(pair["randomisation_p"]),
        bootstrap_holm=_number(pair["bootstrap_holm"]),
        randomisation_holm=_number(pair["randomisation_holm"]),
        winner=winner,
        equal_length=_equal_length(pair.get("equal_length")),
    )


def _equal_length(content: Mapping[str, Any] | None) -> EqualLength | None:
    if content is None:
        return None
    return EqualLength(*(_number(content[key]) for key in ("difference", "low", "high")))
