"""Captions in which people marked what is made up: P, R and F1 of what metrics and tools mark."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...captions.fields import CAPTIONS, usual, usual_id
from ...captions.rows import Rows
from ...doors.arguments import name_wrong_argument
from ...errors import AnnotationError, VifidelError
from ...evaluation import Floats, Integers
from ...io.containers import entries_of
from ...io.entries import Entry
from ...io.image_ids import samples
from ...run.reading import PathLike
from ...scorers import Scorer
from ...scorers.explaining import Explainer
from ...scores.significance import Bootstrap, Sample, exact, p_values, ratio
from ...scores.standings import holm
from .judgements import ALL, REFERENCE_FIELDS, Judged, image_id_of, numbered
from .result import Agreement, row_of, table_of
from .trials import Trials

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


@name_wrong_argument
def read_spans(path: PathLike, kinds: Collection[str] = ()) -> Marked:
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
    marked = Marked(PurePath(path).stem, judged, spans)
    unknown = [kind for kind in kinds if kind not in marked.kinds]
    if unknown or not marked.kinds:
        kinds_of_spans = ", ".join(marked.kinds) or "none"
        problem = f"no span is of the kind {unknown[0]!r:.40}" if unknown else "no span is marked"
        raise AnnotationError(f"{path}: {problem}; the kinds of spans are: {kinds_of_spans}.")
    if ALL in marked.kinds:
        raise AnnotationError(
            f"{path}: a kind of spans cannot be called {ALL!r}, which is all kinds together; "
            "rename it."
        )
    if kinds:
        of_kinds = [tuple(span for span in of_row if span.kind in kinds) for of_row in marked.spans]
        marked = replace(marked, spans=of_kinds)
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
    spans = []
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
            spans.append(Span(start, end, kind.strip()))
    spans.sort()
    for first, second in pairwise(spans):
        if second.start < first.end:
            raise row.error(
                f"{row}: the spans from {first.start} to {first.end} and from {second.start} to "
                f"{second.end} overlap; join them, or keep one."
            )
    return tuple(spans)


@name_wrong_argument
def read_tool_spans(path: PathLike, marked: Marked) -> list[tuple[Span, ...]]:
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
    tool_kinds = {span.kind for spans in by_id.values() for span in spans} - {NAMELESS}
    unknown = tool_kinds.difference(marked.kinds)
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
    spans = []
    for explanation in scorer.explain_rows(rows):
        wrong = [mention for mention in explanation.mentions if mention.verdict.is_wrong]
        spans.append(tuple(Span(mention.start, mention.end) for mention in wrong))
        on_progress(1)
    return spans


#: What is counted: pieces between blanks that a span touches; spans, which are right if they touch
#: one of the other side; captions with a span.
LEVELS = ("tokens", "spans", "captions")

_TESTS = 1000  # resamples of tests
_PIECE = re.compile(r"\S+")
_NOTES = [
    "A token (between blanks) counts if a span touches it, a span if it touches one of the other "
    "side, and a caption if it has a span.",
    "P: approximate randomisation over images, two-sided, after Holm's correction over the pairs.",
]


def compare_spans(
    marked: Marked, tools: Mapping[str, Sequence[tuple[Span, ...]]], trials: Trials
) -> Agreement:
    """Compare the spans of tools with those that people marked.

    Found are ``"spans"``: of each tool, ``kind`` and ``level`` the ``precision``, ``recall`` and
    ``f1``, from 0 to 1, with the interval of F1 and those of all (``intervals``), and how many are
    ``predicted`` and ``marked``; of a kind, a tool that names none has a recall alone. And
    ``"tests"`` of F1 between every two tools.
    """
    kinds = [ALL, *marked.kinds] if len(marked.kinds) > 1 else [ALL]
    samples = {key: Sample(exact(counts), _f1) for key, counts in _by_image(marked, tools, kinds)}
    spans = list(_spans(samples, tools, trials.bootstrap))
    tests = list(_tests({level: samples[ALL, level] for level in LEVELS}, [*tools], trials.seed))
    columns = ["Metric", "Kind", "Level", *map(str.capitalize, _STATISTICS), "Interval"]
    title = f"{marked.name}: made-up spans, with the interval of F1"
    tables = [table_of(title, spans, [*columns, "Predicted", "Marked"], texts=3)]
    if tests:
        header = ["Level", "First", "Second", "Difference", "P"]
        tables.append(table_of(f"{marked.name}: tests of F1", tests, header, texts=3))
    tidy = [
        row_of(finding, name, name, "marked", subset=f"{finding['kind']}, {finding['level']}")
        | dict(zip(("low", "high"), finding["intervals"][name], strict=True))
        for finding in spans
        for name in _STATISTICS
    ]
    notes = _NOTES if tests else _NOTES[:1]
    return Agreement(marked.name, {"spans": spans, "tests": tests}, tidy, tables, notes, trials)


def _spans(
    samples: Mapping[tuple[str, str], Sample],
    tools: Mapping[str, Sequence[tuple[Span, ...]]],
    bootstrap: Bootstrap,
) -> Iterator[dict[str, Any]]:
    """Yield what is found of each kind, level and tool."""
    drawn = bootstrap.scores(
        {
            (*key, name): replace(sample, score_of=statistic)
            for key, sample in samples.items()
            for name, statistic in _STATISTICS.items()
        }
    )
    for (kind, level), sample in samples.items():
        for at, (tool, predicted) in enumerate(tools.items()):
            sums = sample.rows[at].sum(axis=0)
            names_kinds = any(span.kind != NAMELESS for spans in predicted for span in spans)
            values, intervals = {}, {}
            for name, statistic in _STATISTICS.items():
                is_known = kind == ALL or name == "recall" or names_kinds
                values[name] = float(statistic(sums)) if is_known else np.nan
                of_draws = drawn[kind, level, name][at] if is_known else ()
                intervals[name] = bootstrap.interval(of_draws)
            low, high = intervals["f1"]
            yield {"metric": tool, "kind": kind, "level": level, **values} | {
                "low": low,
                "high": high,
                "intervals": intervals,
                "predicted": int(sums[1]),
                "marked": int(sums[3]),
            }


def _tests(
    of_levels: Mapping[str, Sample], names: Sequence[str], seed: int
) -> Iterator[dict[str, Any]]:
    """Yield the test of F1 between every two tools on each level."""
    pairs = list(itertools.combinations(range(len(names)), 2))
    for level, p in p_values(of_levels, seed, _TESTS, {}).items() if pairs else ():
        values = _f1(of_levels[level].rows.sum(axis=1)).tolist()
        corrected = holm([float(p[1][pair]) for pair in pairs])
        for (first, second), of_pair in zip(pairs, corrected, strict=True):
            yield {
                "level": level,
                "first": names[first],
                "second": names[second],
                "difference": values[first] - values[second],
                "p": of_pair,
            }


class _Places:
    """Places in captions, all of which stand one after the other in one text."""

    def __init__(self, marked: Marked, of_captions: Iterable[Sequence[tuple[Any, ...]]]) -> None:
        images, self.images = numbered(judged.image_id for judged in marked.judged)
        places, kinds, at = [], [], 0
        for judged, image, of_caption in zip(marked.judged, images, of_captions, strict=True):
            for start, end, *kind in of_caption:
                places.append((at + start, at + end, image))
                kinds += kind
            at += len(judged.captions[0]) + 1
        self.kinds = np.array(kinds)
        self.starts, self.ends, self._image = np.array(places, dtype=np.int64).reshape(-1, 3).T

    def touched(self, spans: _Places, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which of these places have a character of the wanted spans."""
        starts, ends = np.sort(spans.starts[chosen]), np.sort(spans.ends[chosen])
        begun = np.searchsorted(starts, self.ends, "left")
        return np.asarray(begun > np.searchsorted(ends, self.starts, "right"))

    def counted(self, chosen: NDArray[np.bool_]) -> Integers:
        """Return how many of the chosen places each image has."""
        return np.bincount(self._image[chosen], minlength=self.images)


def _by_image(
    marked: Marked, tools: Mapping[str, Sequence[tuple[Span, ...]]], kinds: Sequence[str]
) -> Iterator[tuple[tuple[str, str], Floats]]:
    """Yield kind, level and counts, (tools, images, 4): right, predicted; found, marked."""
    texts = [judged.captions[0] for judged in marked.judged]
    units = {
        "tokens": _Places(marked, ([p.span() for p in _PIECE.finditer(text)] for text in texts)),
        "captions": _Places(marked, ([(0, len(text))] for text in texts)),
    }
    gold = _Places(marked, marked.spans)
    predicted = [_Places(marked, of_tool) for of_tool in tools.values()]
    for kind, level in itertools.product(kinds, LEVELS):
        by_tool = []
        of_gold = (gold.kinds == kind) | (kind == ALL)
        for spans in predicted:
            of_tool = (spans.kinds == kind) | (kind == ALL) | (spans.kinds == NAMELESS).all()
            if level == "spans":
                right, overlapped = spans.touched(gold, of_gold), gold.touched(spans, of_tool)
                by_tool.append(
                    [
                        *map(spans.counted, (right & of_tool, of_tool)),
                        *map(gold.counted, (overlapped & of_gold, of_gold)),
                    ]
                )
            else:
                unit = units[level]
                in_gold, in_tool = unit.touched(gold, of_gold), unit.touched(spans, of_tool)
                in_both = in_gold & in_tool
                by_tool.append([*map(unit.counted, (in_both, in_tool, in_both, in_gold))])
        yield (kind, level), np.moveaxis(np.array(by_tool, dtype=np.float64), 1, 2)


def _recall(sums: Floats) -> Floats:
    return ratio(sums[..., 2:])


def _f1(sums: Floats) -> Floats:
    """Return the harmonic mean; 0 where nothing is right, undefined where nothing is marked."""
    precision, recall = np.nan_to_num(ratio(sums)), _recall(sums)
    mean = ratio(np.stack([2 * precision * recall, precision + recall], -1))
    return np.where(sums[..., 2] == 0, recall, mean)


_STATISTICS = {"precision": ratio, "recall": _recall, "f1": _f1}
