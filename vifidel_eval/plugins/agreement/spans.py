"""Captions in which people marked what is made up, and the spans that metrics and tools mark."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from ...captions.fields import CAPTIONS, usual, usual_id
from ...captions.rows import Rows
from ...errors import AnnotationError, VifidelError
from ...io.containers import entries_of
from ...io.entries import Entry
from ...io.image_ids import samples
from ...scorers import Scorer
from ...scorers.explaining import Explainer
from .judgements import REFERENCE_FIELDS, Judged, image_id_of

# What lists of spans, and the kind of a span, are called.
_SPANS = ("spans", "hallucinations", "annotations", "labels")
_KINDS = ("kind", "type", "label", "category")
#: Kinds, in lower case, that say that nothing is made up there.
NOT_MADE_UP = frozenset(
    {"", "o", "0", "false", "none", "accurate", "correct", "analysis", "unsure"}
)
#: The kind of a span that has none.
NAMELESS = "made up"
# How the labels of tokens begin in IOB.
_IOB = re.compile("[BIES]-")


class Span(NamedTuple):
    """A part of a caption that is made up."""

    start: int  #: where it begins, in characters
    end: int  #: where it ends
    kind: str = NAMELESS


@dataclass(frozen=True)
class Marked:
    """Captions with the spans that people marked, in order, none overlapping another."""

    name: str  # the data set, as a table names it
    judged: list[Judged]  # each with one caption
    spans: list[tuple[Span, ...]]

    @property
    def kinds(self) -> list[str]:
        """The kinds of spans."""
        return list(dict.fromkeys(span.kind for spans in self.spans for span in spans))


def read_spans(path: Path, kinds: Collection[str] = ()) -> Marked:
    """Read captions with marked spans from a JSON list or JSON Lines; `kinds` are those wanted.

    Places are in characters, the end excluded. An entry is of one of these layouts::

        {"image_id": 7, "caption": "A red dog", "spans": [{"start": 2, "end": 5, "kind": "colour"}]}
        {"image_id": 7, "tokens": ["A", "red", "dog"], "labels": ["O", "B-colour", "O"]}
        {"image_path": "7.jpg", "caption": "A red dog", "grounding": [["A", false], ["red", true]]}

    Spans may be called ``hallucinations``, ``annotations`` (M-HalDetect: Gunjal et al., AAAI 2024)
    or ``labels``, and be lists of start, end and kind; a kind may be called ``type`` or ``label``.
    Labels of tokens are kinds, also in IOB, or true and false, or 1 and 0. ``grounding`` is HAT's.
    Kinds such as *accurate* mark nothing. An `AnnotationError` says what cannot be read.
    """
    rows = entries_of(path, AnnotationError)
    if not rows:
        raise AnnotationError(f"{path}: is an empty list; give captions with marked spans.")
    judged, spans = [], []
    for number, row in enumerate(rows):
        caption, of_row = _marked(row)
        field = usual_id(name for name in row.content if name != "id")
        image_id = row.image_id(field) if field else number
        if isinstance(image_id, str):
            image_id = image_id_of(image_id)
        references = next(iter(usual(row.content, REFERENCE_FIELDS)), None)
        texts = () if references is None else tuple(row.texts(references))
        judged.append(Judged(image_id, (caption,), texts))
        spans.append(of_row)
    marked = Marked(path.stem, judged, spans)
    unknown = [kind for kind in kinds if kind not in marked.kinds]
    if unknown or not marked.kinds:
        there = ", ".join(marked.kinds) or "none"
        wanted = f"no span is of the kind {unknown[0]!r:.40}" if unknown else "no span is marked"
        raise AnnotationError(f"{path}: {wanted}; the kinds of spans are: {there}.")
    if kinds:
        kept = [tuple(span for span in of_row if span.kind in kinds) for of_row in marked.spans]
        marked = replace(marked, spans=kept)
    return marked


def _marked(row: Entry) -> tuple[str, tuple[Span, ...]]:
    """Return a caption and its spans."""
    caption = next((row.text(name) for name in usual(row.content, CAPTIONS)), "")
    if "grounding" in row:
        pairs = row.members("grounding", list, "a list of [token, true or false]")
        if any(len(pair) != 2 for pair in pairs):
            raise row.refusal("grounding", "a list of [token, true or false]")
        return _by_tokens(row, caption, [t for t, _ in pairs], [label for _, label in pairs])
    if "tokens" in row:
        return _by_tokens(row, caption, row.texts("tokens"), row.members("labels"))
    if not caption:
        raise row.error(f"{row}: has no caption; expected one under {', '.join(CAPTIONS[:4])}.")
    return caption, spans_of(row, caption)


def _by_tokens(
    row: Entry, caption: str, tokens: Sequence[str], labels: Sequence[Any]
) -> tuple[str, tuple[Span, ...]]:
    """Return a caption, or its tokens between blanks, and the spans of tokens with one label."""
    if len(labels) != len(tokens):
        raise row.error(f"{row}: has {len(labels)} labels for {len(tokens)} tokens.")
    caption = caption or " ".join(tokens)
    spans: list[Span] = []
    at, before = 0, ""
    for token, label in zip(tokens, labels, strict=True):
        start = caption.find(str(token), at)
        if start < 0:
            raise row.error(f"{row}: token {token!r:.40} is not in the rest of the caption.")
        at = start + len(str(token))
        kind = _IOB.sub("", str(label)) if isinstance(label, str) else str(bool(label)).lower()
        begins = str(label).startswith(("B-", "S-"))
        if kind.lower() in NOT_MADE_UP:
            kind = ""
        elif kind == before and not begins:
            spans[-1] = spans[-1]._replace(end=at)
        else:
            spans.append(Span(start, at, NAMELESS if kind == "true" else kind))
        before = kind
    return caption, tuple(spans)


def spans_of(row: Entry, caption: str) -> tuple[Span, ...]:
    """Return the spans that a row lists, in order; they neither leave the caption nor overlap."""
    key = next((name for name in _SPANS if name in row), "spans")
    found = []
    for item in row.members(key, expected="a list of spans"):
        start = end = kind = None
        if isinstance(item, Mapping):
            start, end = item.get("start"), item.get("end")
            kind = next((item[name] for name in _KINDS if name in item), NAMELESS)
        elif isinstance(item, list) and 2 <= len(item) <= 3:
            start, end, kind = [*item, NAMELESS][:3]
        if not (type(start) is type(end) is int and isinstance(kind, str)):
            raise row.error(f"{row}: {item!r:.60} is no span; expected start, end and kind.")
        if not 0 <= start < end <= len(caption):
            raise row.error(
                f"{row}: the span from {start} to {end} is not within the caption, which has "
                f"{len(caption)} characters; the end is excluded."
            )
        if kind.strip().lower() not in NOT_MADE_UP:
            found.append(Span(start, end, kind.strip()))
    found.sort()
    for first, second in pairwise(found):
        if second.start < first.end:
            raise row.error(
                f"{row}: the spans from {first.start} to {first.end} and from {second.start} to "
                f"{second.end} overlap; join them, or keep one."
            )
    return tuple(found)


def read_tool_spans(path: Path, marked: Marked) -> list[tuple[Span, ...]]:
    """Return the spans of another tool: entries with spans and the ``id`` of `write_candidates`.

    A VifidelError says that ids do not fit, or that a kind is none of the data set's.
    """
    rows = entries_of(path, VifidelError)
    captions = {f"{number}.1": judged.captions[0] for number, judged in enumerate(marked.judged, 1)}
    by_id: dict[str, tuple[Span, ...]] = {}
    for row in rows:
        name = row.text("id")
        if name not in captions:
            raise row.refusal("id", f"an id of --write-candidates, 1.1 to {len(captions)}.1")
        by_id[name] = spans_of(row, captions[name])
    missing = [name for name in captions if name not in by_id]
    if missing or len(by_id) < len(rows):
        raise VifidelError(
            f"{path}: needs one entry for each of {len(captions)} captions; {len(missing)} have "
            f"none ({samples(missing)}), {len(rows) - len(by_id)} ids are listed twice."
        )
    named = {span.kind for spans in by_id.values() for span in spans} - {NAMELESS}
    unknown = named.difference(marked.kinds)
    if unknown:
        raise VifidelError(
            f"{path}: {marked.name} has no spans of the kind {min(unknown)!r:.40}; its kinds are "
            f"{', '.join(marked.kinds)}."
        )
    return [by_id[name] for name in captions]


def spans_by(
    scorer: Scorer,
    judged: Sequence[Judged],
    references: Sequence[Sequence[str]],
    on_progress: Callable[[int], object],
) -> list[tuple[Span, ...]]:
    """Return what a metric calls made up in each caption, as it is written."""
    if not isinstance(scorer, Explainer):
        raise VifidelError(
            f"{scorer.method()} marks no words; give metrics that do, such as VIFIDEL-H."
        )
    images = [captions.image_id for captions in judged]
    scorer.check_images(images)
    rows = Rows([captions.captions[0] for captions in judged], references, images)
    found = []
    for explanation in scorer.explain_rows(rows):
        wrong = [mention for mention in explanation.mentions if mention.verdict.is_wrong]
        found.append(tuple(Span(mention.start, mention.end) for mention in wrong))
        on_progress(1)
    return found
