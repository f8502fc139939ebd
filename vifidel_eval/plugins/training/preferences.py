"""Preference pairs for DPO and its kin: of several captions of an image, the best and the worst."""

from __future__ import annotations

import io
import math
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ...captions.fields import CaptionFields, Names, caption_field, id_field, with_paths
from ...captions.generated import read_answer
from ...captions.read import captions_from, read_content
from ...doors.arguments import in_a_tuple, name_wrong_argument
from ...errors import CaptionError, VifidelError, VifidelWarning, warn
from ...io.entries import Entries, Source, is_frame
from ...io.files import json_line, write_whole
from ...io.image_ids import ImageId, match, to_json_value
from ...project import pip_install
from ...run import evaluate
from ...scorers.registry import METRICS
from ...scores.scores import unknown
from ...scores.tool_scores import score_of

#: Captions by image: a path, a mapping to lists, or rows with a column of scores.
Samples: TypeAlias = Any


class PreferencePair(NamedTuple):
    """Two captions of an image, as TRL's trainers take them, and why one is preferred."""

    prompt: str
    chosen: str
    rejected: str
    image_id: ImageId
    chosen_score: float
    rejected_score: float
    #: The words for what they make up, in order; empty where nothing is known of the image.
    chosen_made_up: list[str]
    rejected_made_up: list[str]


@dataclass
class _Sample:
    text: str
    score: float = math.nan
    made_up: list[str] = field(default_factory=list)


@name_wrong_argument
def preference_pairs(
    samples: Samples,
    column: str = "VIFIDEL-F",
    *,
    objects: Any = None,
    references: Any = None,
    prompt: str = "Describe the image.",
    least_difference: float = 0.0,
    equal_length: float | None = None,
    lower_is_better: bool = False,
    id_field: Names = (),
    caption_field: Names = (),
    **settings: Any,
) -> list[PreferencePair]:
    """Return the best and the worst caption of each image by a column of scores.

    Parameters
    ----------
    samples : path, mapping, list of records or DataFrame
        Several captions per image: ``{image id: [caption, ...]}``, a file as ``score --samples``
        reads it, or rows with an image id, a caption and the column, whose scores then count.
    column : str
        What is compared; of the others than rows, a column of a metric, which is computed.
    objects, references : optional
        As `vifidel_eval.evaluate` takes them; they also say what the captions make up.
    prompt : str
        The prompt of all pairs.
    least_difference : float
        By how much scores of a pair differ at least; those of equal scores are no pair.
    equal_length : float, optional
        By what share of the longer caption the numbers of words may differ, such as .1: of all
        captions that are so alike, the pair with the largest difference. By default, any.
    lower_is_better : bool
        Whether lower is better in a column of rows; our own say it themselves.
    id_field, caption_field : str or list of str
        Columns, keys or paths of image ids and captions in `samples`, as for `evaluate`.
    **settings
        More arguments of `vifidel_eval.evaluate`, such as ``threshold=.5``.

    Raises
    ------
    VifidelError
        If there is no such column, nothing to score the captions with, or no pair.

    Examples
    --------
    >>> samples = {1: ["A dog.", "A dog and a zebra."]}
    >>> [pair] = preference_pairs(samples, objects={1: {"dog": 1, "zebra": 0}})
    >>> pair.chosen, pair.rejected, pair.rejected_made_up
    ('A dog.', 'A dog and a zebra.', ['zebra'])
    """
    if not (least_difference >= 0 and (equal_length is None or 0 <= equal_length < 1)):
        raise VifidelError(
            f"least_difference must be 0 or more, not {least_difference!r:.40}, and equal_length "
            f"from 0 to below 1, not {equal_length!r:.40}."
        )
    fields = CaptionFields(in_a_tuple(id_field), in_a_tuple(caption_field), samples=True)
    settings["id_field"] = fields.id_fields  # of references too
    by_image = _from_rows(samples, column, fields)
    has_evidence = objects is not None or references is not None
    if by_image is None and not has_evidence:
        where = samples if isinstance(samples, str | os.PathLike) else "the samples"
        raise VifidelError(
            f"there is no column {column!r} in {where}: to score them, give objects or references."
        )
    if by_image is None:
        captions = captions_from(samples, "samples", fields)
        by_image = {i: [_Sample(text) for text in texts] for i, texts in captions.items()}
        lower_is_better = _judge(by_image, column, objects, references, settings)
    else:
        lower_is_better = lower_is_better or _spelled(column) in _lower_in_tables()
        if has_evidence:
            _judge(by_image, "", objects, references, settings)
    pairs = []
    for image_id, of_image in by_image.items():
        ranked = sorted(
            (sample for sample in of_image if not math.isnan(sample.score)),
            key=lambda sample: sample.score if lower_is_better else -sample.score,
        )
        farthest = _farthest(ranked, least_difference, equal_length)
        if farthest is not None:
            chosen, rejected = farthest
            beside = chosen.score, rejected.score, chosen.made_up, rejected.made_up
            pairs.append(PreferencePair(prompt, chosen.text, rejected.text, image_id, *beside))
    if not pairs:
        differ = f"differs by {least_difference:g} or more" if least_difference else "differs"
        alike = "" if equal_length is None else ", and whose lengths are so alike"
        raise VifidelError(
            f"there is nothing to choose from: none of {len(by_image)} images has two captions "
            f"whose {column} {differ}{alike}."
        )
    return pairs


def _spelled(column: str) -> str:
    """Return the name of a column in the files of ``score-table``."""
    return column.replace("-", "_")


def _lower_in_tables() -> set[str]:
    columns = (column for name in METRICS.of_tables() for column in METRICS[name].columns)
    return {_spelled(column.name) for column in columns if column.lower_is_better}


def _from_rows(
    samples: Samples, column: str, fields: CaptionFields
) -> dict[ImageId, list[_Sample]] | None:
    """Return the captions of rows that have the column; None of other samples."""
    if is_frame(samples):
        rows: Any = Entries.of_frame(samples, Source("samples", CaptionError))
    elif isinstance(samples, str | os.PathLike):
        rows = read_content(samples)
    else:
        return None
    if not isinstance(rows, Entries):
        return None
    column = column if column in rows.names else _spelled(column)
    if column not in rows.names:
        return None
    rows, where = with_paths(rows, fields), rows.source.where
    image = id_field(rows.names, fields.id_fields, where)
    caption = caption_field(rows.names, fields, where)
    by_image: dict[ImageId, list[_Sample]] = {}
    for row in rows:
        of_image = by_image.setdefault(row.image_id(image), [])
        of_image.append(_Sample(row.text(caption), score_of(row, column)))
    return by_image


def _judge(
    by_image: Mapping[ImageId, Sequence[_Sample]],
    column: str,
    objects: Any,
    references: Any,
    settings: Mapping[str, Any],
) -> bool:
    """Fill in what captions make up and, with a column, its scores; return if lower is better."""
    systems = {
        f"sample {n + 1}": {i: texts[n].text for i, texts in by_image.items() if n < len(texts)}
        for n in range(max(map(len, by_image.values()), default=0))
    }
    metrics = [column or "VIFIDEL-H"]
    with warnings.catch_warnings():
        # Samples are no systems to compare.
        warnings.filterwarnings("ignore", ".* of system 'sample", VifidelWarning)
        run = evaluate(
            systems, references, objects, metrics, allow_subset=True, progress=False, **settings
        )
    if not settings.get("as_written"):
        _warn_of_no_claim([sample.text for of_image in by_image.values() for sample in of_image])
    if column and column not in run.columns:
        raise unknown("column", column, run.columns)
    ids = {}
    for n, system in enumerate(systems):
        of_images = run.per_image(system)
        ids[system] = match(of_images, by_image)
        for image_id, own_id in ids[system].items() if column else ():
            score = of_images[image_id][column]
            by_image[own_id][n].score = math.nan if score is None else score
    for invention in run.inventions():
        n = int(invention.system.removeprefix("sample ")) - 1
        own_id = ids[invention.system][invention.image_id]
        by_image[own_id][n].made_up.append(invention.word)
    return any(c.lower_is_better for c in run.detail.columns() if c.name == column)


def _warn_of_no_claim(texts: Sequence[str]) -> None:
    silent = sum(
        answer is not None and bool(answer.why_nothing) for answer in map(read_answer, texts)
    )
    if silent:
        claim = "claims" if silent == 1 else "claim"
        warn(
            f"{silent} of {len(texts)} captions {claim} nothing (refusals, empty, only reasoning): "
            "such a caption can be the rejected one."
        )


def _farthest(
    ranked: Sequence[_Sample], least: float, equal_length: float | None
) -> tuple[_Sample, _Sample] | None:
    """Return the first and last captions of a ranking that may be a pair; the farthest apart."""
    farthest_pair, farthest = None, 0.0
    for first in ranked:
        for last in reversed(ranked):
            difference = abs(first.score - last.score)
            if difference <= farthest or difference < least:
                break  # those before the last are nearer still
            shorter, longer = sorted(len(sample.text.split()) for sample in (first, last))
            is_alike = equal_length is None or longer - shorter <= equal_length * longer
            if is_alike and first.text != last.text:
                farthest_pair, farthest = (first, last), difference
    return farthest_pair


def write_pairs(path: Path, pairs: Sequence[PreferencePair]) -> None:
    """Write pairs, a row for each: Parquet under that suffix, else JSON Lines."""
    rows = [pair._asdict() | {"image_id": to_json_value(pair.image_id)} for pair in pairs]
    if path.suffix.lower() != ".parquet":
        write_whole(path, "".join(f"{json_line(row)}\n" for row in rows))
        return
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise VifidelError(f"{path}: Parquet needs pyarrow: {pip_install('pyarrow')}.") from None
    if not all(isinstance(row["image_id"], int) for row in rows):
        rows = [row | {"image_id": str(row["image_id"])} for row in rows]
    content = io.BytesIO()
    pa.parquet.write_table(pa.Table.from_pylist(rows), content)
    write_whole(path, content.getvalue())
