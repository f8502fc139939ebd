"""The file that ``score --output`` writes, and back: scores, and how systems compare."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..doors.arguments import real_numbers
from ..errors import MetricUnavailable, VifidelError, warn
from ..evaluation import COUNTS, Evaluation, Floats, Statistics
from ..io.digits import for_json, from_json, number_texts, short, value_of
from ..io.files import json_text, printable, read_json
from ..io.image_ids import from_json_value, to_json_value
from ..scorers.registry import METRICS
from ..scorers.word_supports import WordDetails
from .comparison import Comparisons
from .scores import Calibrated, Inputs, People, Scores, counts_of
from .significance import has_own_score

_FORM = 1  # the form of the file; another one would get another number

_PLACE = "images"  # a placeholder for the text of a system's images
_IMAGES = re.compile(f'(?<="imgToEval": )"{_PLACE}"')


def scores_text(scores: Scores, comparisons: Comparisons | None = None) -> str:
    """Return the text of the file: JSON with ten digits, all digits in "overall"."""
    columns = scores.columns()
    document: dict[str, Any] = {
        "scores": _FORM,
        "signatures": scores.signatures,
        "lower_is_better": [column.name for column in columns if column.lower_is_better],
        "unranked": [column.name for column in columns if not column.ranked],
        "systems": {name: _system(of_column) for name, of_column in scores.evaluations.items()},
        "people": for_json(scores.people),
        "calibrated": for_json(scores.calibrated),
        "unavailable": {name: str(why) for name, why in scores.unavailable.items()},
        "uncaptioned": scores.uncaptioned,
        "inputs": scores.inputs and scores.inputs.to_json(),
        "comparison": comparisons and comparisons.to_json(),
    }
    always = ("scores", "signatures", "systems")
    document = {key: value for key, value in document.items() if value or key in always}
    images = map(_images_text, scores.evaluations.values())
    return _IMAGES.sub(lambda _: next(images), json_text(document))


def _system(of_column: Mapping[str, Evaluation]) -> dict[str, Any]:
    """Return what the file says of a system, with a placeholder for its images."""
    system: dict[str, Any] = {
        "overall": {
            column: None if math.isnan(e.score) else float(e.score)
            for column, e in of_column.items()
        },
        "counts": {column: counts_of(e) for column, e in of_column.items()},
        "left_out": {
            column: [to_json_value(e.ids[at]) for at in np.flatnonzero(e.missing).tolist()]
            for column, e in of_column.items()
            if not np.array_equal(e.missing, np.isnan(e.scores))
        },
    }
    system["made_up"] = {c: dict(e.made_up) for c, e in of_column.items() if e.made_up is not None}
    # A list of counts is one text, on a line of its own: a JSON list would take a line per number.
    columns_of: dict[str, list[str]] = {}
    for column, e in of_column.items():
        if e.statistics is not None:
            lines = map(number_texts, e.statistics.of_rows.T.tolist())
            texts = (" ".join(number.removesuffix(".0") for number in line) for line in lines)
            columns_of.setdefault("\n".join(texts), []).append(column)
    system["statistics"] = [
        {"columns": columns, "of_images": text.split("\n")} for text, columns in columns_of.items()
    ]
    system["imgToEval"] = _PLACE
    return {key: part for key, part in system.items() if part or key in ("overall", "counts")}


def _images_text(of_column: Mapping[str, Evaluation]) -> str:
    """Return what the file says of a system's images."""
    ids = next(iter(of_column.values())).ids
    texts = {"image_id": _json_texts(map(to_json_value, ids))}
    for column, evaluation in of_column.items():
        texts[column] = number_texts(evaluation.scores.tolist())
        for name, values in evaluation.details.items():
            of_images = (
                values.json_texts()
                if isinstance(values, WordDetails)
                else ("[]" if value == [] else json_text(for_json(value)) for value in values)
            )
            texts[name] = [text.replace("\n", "\n     ") for text in of_images]
    names = ",\n".join(f"     {json_text(name)}: ".replace("%", "%%") + "%s" for name in texts)
    row = f"    %s: {{\n{names}\n    }}"
    rows = dict(zip(map(str, ids), zip(*texts.values(), strict=True), strict=True))
    keyed = zip(_json_texts(rows), rows.values(), strict=True)
    text = ",\n".join([row % (key, *of_image) for key, of_image in keyed])
    return f"{{\n{text}\n   }}" if rows else "{}"


def _json_texts(values: Iterable[str | float]) -> list[str]:
    """Return each number or string as `json_text` writes it: in JSON, none has a line break."""
    lines = json.dumps([*values], allow_nan=False, ensure_ascii=False, separators=("\n", ":"))
    return printable(lines[1:-1]).split("\n") if len(lines) > 2 else []


def read_scores(path: str | os.PathLike[str]) -> tuple[Scores, Comparisons | None]:
    """Read what ``score --output`` wrote; tallies, and statistics of version 0.2.0, are missing."""
    content = read_json(path, VifidelError)
    if not isinstance(content, dict) or not {"signatures", "systems"} <= content.keys():
        raise VifidelError(
            f"{path}: {_what_it_is(content)}; give a file that score --output wrote."
        )
    form = content.get("scores", _FORM)  # version 0.1.0 wrote no number
    if isinstance(form, int) and form > _FORM:
        raise VifidelError(
            f"{path}: was written by a newer version of vifidel-eval; update this one."
        )
    try:
        scores, comparison = _scores(content), content.get("comparison")
        if comparison is not None:  # version 0.2.0 had one number of resamples
            comparison = {"interval_resamples": comparison["resamples"], **comparison}
        return scores, value_of(Comparisons | None, comparison)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as problem:
        reason = f"{problem.args[0]!r} is missing" if isinstance(problem, KeyError) else problem
        raise VifidelError(
            f"{path}: the scores are damaged ({reason}); restore the file or score again."
        ) from None


def _what_it_is(content: Any) -> str:
    if isinstance(content, dict):
        if "leaderboard" in content:
            return "is a leaderboard, which the command leaderboard prints"
        if "annotations" in content or "images" in content:
            return "holds a dataset's annotations, not scores"
    first = content[0] if isinstance(content, list) and content else None
    if isinstance(first, dict) and "caption" in first:
        return "holds captions, not scores"
    return "holds no scores"


def _scores(content: Mapping[str, Any]) -> Scores:
    signatures = value_of(dict[str, str], content["signatures"])
    evaluations = {
        name: _evaluations(system, signatures, content)
        for name, system in content["systems"].items()
    }
    if not signatures or not evaluations:
        raise ValueError("it has no systems or no scores")
    unavailable = value_of(dict[str, str], content.get("unavailable", {}))
    inputs = None
    if content.get("inputs") is not None:
        files = value_of(dict[str, str], content["inputs"]["files"])
        inputs = Inputs(content["inputs"]["arguments"], files)
    return Scores(
        signatures,
        evaluations,
        {name: MetricUnavailable(why) for name, why in unavailable.items()},
        value_of(People | None, content.get("people")),
        value_of(dict[str, Calibrated], content.get("calibrated", {})),
        value_of(int, content.get("uncaptioned", 0)),
        inputs,
    )


def _evaluations(
    system: Mapping[str, Any], signatures: Mapping[str, str], content: Mapping[str, Any]
) -> dict[str, Evaluation]:
    """Return the columns of a system."""
    rows = list(system["imgToEval"].values())
    ids = [
        image_id if isinstance(image_id, float) else from_json_value(image_id)
        for image_id in (row["image_id"] for row in rows)
    ]
    details: dict[str, dict[str, list[Any]]] = {}
    column = ""
    for key in rows[0] if rows else ():  # what a metric says of images is behind its column
        if key in signatures:
            column = key
        elif key != "image_id":
            details.setdefault(column, {})[key] = [row[key] for row in rows]
    statistics = _statistics(system, signatures)
    evaluations = {}
    for column, signature in signatures.items():
        counts = value_of(dict[str, int], system["counts"][column])
        left_out = None
        if column in system.get("left_out", {}):
            ids_left_out = set(system["left_out"][column])
            left_out = np.array([image_id in ids_left_out for image_id in ids], dtype=bool)
        evaluations[column] = Evaluation(
            ids,
            real_numbers([short(row[column]) for row in rows], f"the score {column}", ids),
            lower_is_better=column in content.get("lower_is_better", ()),
            ranked=column not in content.get("unranked", ()),
            corpus_score=from_json(system["overall"][column]),
            statistics=statistics.get(column),
            counts={count.key: counts[count.key] for count in COUNTS if count.key in counts},
            made_up=system.get("made_up", {}).get(column),
            signature=signature,
            details=details.get(column, {}),
            left_out=left_out,
        )
    return evaluations


def _statistics(system: Mapping[str, Any], signatures: Mapping[str, str]) -> dict[str, Statistics]:
    """Return the counts of a system's images, by column."""
    statistics = {}
    for of_columns in system.get("statistics", ()):
        counts = [
            [math.nan if number == "null" else float(number) for number in text.split()]
            for text in of_columns["of_images"]
        ]
        for column in of_columns["columns"]:
            declared = METRICS.column(column, signatures[column])
            formula = None if declared is None else declared.of_sums
            statistics[column] = Statistics(np.array(counts).T, formula or no_formula)
    return statistics


def no_formula(sums: Floats) -> Floats:
    """Stand for the formula of a metric that is not installed: the scores of sums are undefined."""
    return np.full(np.shape(sums)[:-1], np.nan)


def comparable(scores: Scores, where: str) -> Scores:
    """Return those columns of a file's scores whose corpus scores follow from those of images."""
    readable: list[str] = []
    lacking: list[str] = []
    for column in scores.signatures:
        follows = all(_follows(column, e[column]) for e in scores.evaluations.values())
        (readable if follows else lacking).append(column)
    if lacking:
        problem = (
            f"{where} lacks the counts for the corpus scores of {', '.join(lacking)}, "
            "or their metric is not installed"
        )
        if not readable:
            raise VifidelError(f"{problem}, so nothing can be compared: evaluate again.")
        warn(f"{problem}; they are not compared: evaluate again, or save with comparisons.")
    return replace(scores.only(readable), unavailable={})


def _follows(column: str, e: Evaluation) -> bool:
    """Return whether what is compared follows from what a file says of images."""
    if e.statistics is not None:
        return e.statistics.score is not no_formula
    declared = METRICS.column(column, e.signature)
    if declared is not None and declared.of_sums is None:
        return True
    # A file of version 0.2.0 lacks the counts, and a corpus score may be the mean all the same.
    is_mean = np.array_equal(e.missing, np.isnan(e.scores))
    return is_mean and (bool(e.missing.all()) or has_own_score(e))
