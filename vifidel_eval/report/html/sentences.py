"""Sentences of captions in the numbers that the page's cards list them from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...evaluation import Evaluation
from ...image_ids import ImageId

#: What the page has of a sentence: its place, whether it claims anything, its P in hundredths (-1
#: without one), and the places of hedged clauses and inventions.
SentenceNumbers = list[Any]


def sentences_of(
    of_column: Mapping[str, Evaluation],
    captions: Mapping[ImageId, str],
    ids: Sequence[ImageId],
) -> list[list[SentenceNumbers] | None]:
    """Return the sentences of each image's caption, in the order of the page.

    They are those that VIFIDEL-PRF tells; places are in UTF-16 units, which scripts count in.

    Parameters
    ----------
    of_column : mapping
        The evaluations of a system.
    captions : mapping
        Image id to its caption.
    ids : sequence
        The images.

    Returns
    -------
    list
        None for an image without a caption, or with a caption of one sentence.
    """
    found: dict[ImageId, list[SentenceNumbers]] = {}
    for evaluation in of_column.values():
        told = evaluation.details.get("sentences", ())
        for image_id, sentences in zip(evaluation.ids, told, strict=False):
            if sentences:
                found[image_id] = [_numbers(captions[image_id], one) for one in sentences]
    return [found.get(image_id) for image_id in ids]


def _numbers(caption: str, sentence: Mapping[str, Any]) -> SentenceNumbers:
    def places(spans: Sequence[tuple[int, int]]) -> list[int]:
        return [_units(caption, at) for span in spans for at in span]

    p = sentence["p"]
    return [
        *places([(sentence["start"], sentence["end"])]),
        int(sentence["claims"]),
        -1 if p is None else round(100 * p),
        places(sentence["hedged"]),
        places([(m["start"], m["end"]) for m in sentence["inventions"]]),
    ]


def _units(text: str, at: int) -> int:
    return at if text.isascii() else len(text[:at].encode("utf-16-le", "surrogatepass")) // 2
