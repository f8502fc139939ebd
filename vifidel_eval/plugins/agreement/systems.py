"""Systems as people and as metrics rank them, and battles: which of two captions people prefer.

A metric may agree with people on captions and not on systems, and the other way round (CapArena,
Cheng et al., Findings of ACL 2025). Pairs of systems are counted as Kocmi et al. (WMT 2021) do, and
ties as Deutsch et al. (EMNLP 2023).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau, rankdata

from ...captions.fields import CaptionFields, listed, usual, usual_id
from ...captions.layouts import texts_of
from ...captions.read import records_of
from ...doors.arguments import name_wrong_argument
from ...errors import AnnotationError
from ...evaluation import Floats, Integers
from ...io.containers import content_of_file
from ...io.entries import Entries, Entry
from ...io.image_ids import ImageId
from ...run.reading import PathLike
from ...scores.significance import Bootstrap, Sample, exact, ratio
from .correlation import mean_views
from .judgements import (
    ALL,
    REFERENCE_FIELDS,
    Choices,
    Judged,
    Ratings,
    References,
    image_id_of,
    numbered,
)
from .result import Agreement, interval, row_of, table_of

#: The mean over images of Kendall's tau-b among the captions of one.
WITHIN = "tau-b within an image"
# Of more captions of one image, pairs are not listed.
_MANY = 64
_DIGITS = 10  # means that differ by less are the same but for rounding

_NOTES = [
    "Pairs right: pairs of systems that metric and people order alike, or both find equal.",
    "Clear pairs right: the same, of the pairs whose interval of the judgements' difference over "
    "images does not contain 0.",
    f"{WITHIN}: 0 where a metric scores all captions of an image alike; images whose captions "
    "people judge alike are left out.",
]


def with_systems(result: Agreement, data: Ratings | Choices) -> Agreement:
    """Return a result with how metrics rank systems, if the judgements name these.

    Found are ``"systems"``: for each metric, number of ``references``, ``rating`` and subset of
    ``captions`` the ``value`` of each ``statistic`` with its interval over images (``low`` and
    ``high``) and over systems (``of_systems``), over ``n`` systems, pairs of them or images; and
    ``"system_means"``. Of battles, a system is judged by its share of wins, ties counting half.
    """
    if data.systems is None:
        return result
    scores = {
        (metric, number): draws.mean(axis=0) for metric, number, draws in result.trials.columns()
    }
    findings = [
        {**statistic, "rating": rating, "captions": captions}
        for rating, captions, ranked in _by_view(data, result.trials.bootstrap)
        for statistic in ranked.statistics(scores)
    ]
    columns = ["Metric", "References", "Statistic", "Value", "Interval", "Of systems", "N"]
    tables = [
        table_of(f"{data.name}: systems, {rating}, captions: {captions}", group, columns, texts=3)
        for (rating, captions), group in _grouped(findings).items()
    ]
    rows = [
        row_of(group, f"systems: {group['statistic']}", "value", "n", subset=group["captions"])
        for group in findings
    ]
    notes = _NOTES if isinstance(data, Ratings) else _NOTES[:-1]
    return result.with_findings("systems", findings, rows, tables, notes)


def _grouped(findings: Sequence[dict[str, Any]]) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return findings by view, with intervals over systems as text."""
    grouped: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for finding in findings:
        shown = {**finding, "of_systems": interval(*finding["of_systems"])}
        grouped.setdefault((finding["rating"], finding["captions"]), []).append(shown)
    return grouped


def _by_view(data: Ratings | Choices, bootstrap: Bootstrap) -> Iterator[tuple[str, str, _Ranked]]:
    """Yield what was asked, of which captions, and the systems by the answers."""
    images = [judged.image_id for judged in data.judged]
    if isinstance(data, Choices):
        won = (1 + data.preferred) / 2
        firsts, seconds = ([pair[side] for pair in data.systems or ()] for side in (0, 1))
        answers = np.concatenate([won, 1 - won])
        yield "wins", ALL, _Ranked(images * 2, firsts + seconds, answers, bootstrap, False)
        return
    for rating, captions, judgements in mean_views(data):
        yield rating, captions, _Ranked(images, data.systems or (), judgements, bootstrap)


class _Ranked:
    """Systems whose captions people judged; a judgement of NaN is none."""

    def __init__(
        self,
        images: Sequence[ImageId],
        systems: Sequence[str],
        judgements: Floats,
        bootstrap: Bootstrap,
        within: bool = True,  # whether the captions of an image are compared
    ) -> None:
        self._rated = np.flatnonzero(~np.isnan(judgements))
        self._judgements, self._bootstrap = judgements[self._rated], bootstrap
        self._compares_captions = within
        self._image, self._images = numbered([images[at] for at in self._rated.tolist()])
        self._system, self._systems = numbered([systems[at] for at in self._rated.tolist()])

    def statistics(
        self, scores: Mapping[tuple[str, References], Floats]
    ) -> Iterator[dict[str, Any]]:
        """Yield each statistic of each metric's scores, of all captions in the order of images.

        There is none of a single system.
        """
        if self._systems < 2 or not scores:
            return
        of_rated = [of_metric.ravel()[self._rated] for of_metric in scores.values()]
        rows = np.stack([self._sums(of_metric) for of_metric in of_rated])
        statistics: dict[str, tuple[_Statistic, int]] = {
            "Spearman": (_spearman, self._systems),
            "tau-b": (_tau_b, self._systems),
            "pairs right": (_right, math.comb(self._systems, 2)),
            "clear pairs right": (self._clear_right, int(self._clear.sum()) // 2),
        }
        samples = {
            name: Sample(exact(rows), partial(_of_sums, statistic))
            for name, (statistic, _) in statistics.items()
        }
        if self._compares_captions:
            taus = [self._within(of_metric) for of_metric in of_rated]
            samples[WITHIN] = Sample(exact(np.stack(taus)), _rounded_ratio)
        drawn = self._bootstrap.scores(samples)
        random = np.random.default_rng(self._bootstrap.seed)
        draws = random.integers(self._systems, size=(self._bootstrap.resamples, self._systems))
        for at, (metric, references) in enumerate(scores):
            for name, sample in samples.items():
                sums = sample.rows[at].sum(axis=0)
                over_systems, number = np.array([]), int(sums[-1])
                if name != WITHIN:
                    statistic, number = statistics[name]
                    people, scored = _means(sums)
                    over_systems = statistic(people[draws], scored[draws], draws)
                low, high = self._bootstrap.interval(drawn[name][at])
                yield {
                    "metric": metric,
                    "references": references,
                    "statistic": name,
                    "value": float(sample.score_of(sums)),
                    "low": low,
                    "high": high,
                    "of_systems": self._bootstrap.interval(over_systems),
                    "n": number,
                }

    def _sums(self, scores: Floats) -> Floats:
        """Return the judgements, scores and captions of all systems, by image: (images, 3 S)."""
        scored = ~np.isnan(scores)
        cells = (self._image * self._systems + self._system)[scored]
        sums = [
            np.bincount(cells, values, self._images * self._systems)
            for values in (self._judgements[scored], scores[scored], None)
        ]
        return np.hstack([of_all.reshape(self._images, -1) for of_all in sums])

    @cached_property
    def _clear(self) -> NDArray[np.bool_]:
        """Which systems' judgements differ: 0 is outside of the difference's interval."""
        rows = np.moveaxis(self._sums(self._judgements).reshape(self._images, 3, -1), 2, 0)
        sample = Sample(exact(rows[:, :, 1:]), _rounded_ratio)
        [drawn] = self._bootstrap.scores({"": sample}).values()
        differences, tail = drawn[:, np.newaxis] - drawn, self._bootstrap.alpha / 2
        low, high = np.nanquantile(differences, [tail, 1 - tail], axis=2)
        return np.asarray((low > 0) | (high < 0))

    def _clear_right(self, people: Floats, scored: Floats, systems: Integers) -> Floats:
        first, second = (systems[..., places] for places in _pairs(people))
        return _right(people, scored, systems, self._clear[first, second])

    def _within(self, scores: Floats) -> Floats:
        """Return the tau-b of each image, or 0, and whether there is one: (images, 2)."""
        scored = np.flatnonzero(~np.isnan(scores))
        order = scored[np.argsort(self._image[scored], kind="stable")]
        images, starts, sizes = np.unique(self._image[order], return_index=True, return_counts=True)
        taus = np.zeros((self._images, 2))
        for size in np.unique(sizes[sizes > 1]).tolist():
            of_size = sizes == size
            places = order[starts[of_size, np.newaxis] + np.arange(size)]
            people, metric = self._judgements[places], scores[places]
            if size > _MANY:
                pairs = zip(metric, people, strict=True)
                tau = np.array([kendalltau(*pair).statistic for pair in pairs])
            else:
                tau = _tau_b(people, metric, np.arange(size))
            defined = people.min(axis=1) < people.max(axis=1)
            taus[images[of_size]] = np.column_stack([np.nan_to_num(tau) * defined, defined])
        return taus


#: From people's and a metric's means of systems and the systems' numbers, (..., S), to (...).
_Statistic = Callable[[Floats, Floats, Integers], Floats]


def _of_sums(statistic: _Statistic, sums: Floats) -> Floats:
    people, scored = _means(sums)
    return statistic(people, scored, np.arange(people.shape[-1]))


def _means(sums: Floats) -> tuple[Floats, Floats]:
    """Return people's and the metric's mean of each system, from sums (..., 3 S); NaN of none."""
    judged, scored, captions = np.split(sums, 3, axis=-1)
    people, metric = (np.stack([of_side, captions], -1) for of_side in (judged, scored))
    return _rounded_ratio(people), _rounded_ratio(metric)


def _rounded_ratio(sums: Floats) -> Floats:
    return np.round(ratio(sums), _DIGITS)


def _pairs(of_systems: Floats) -> tuple[Integers, Integers]:
    return np.triu_indices(of_systems.shape[-1], 1)


def _signs(of_systems: Floats) -> Floats:
    first, second = _pairs(of_systems)
    return np.sign(of_systems[..., first] - of_systems[..., second])


def _spearman(people: Floats, scored: Floats, systems: Integers) -> Floats:
    centred = [rankdata(means, axis=-1) - (means.shape[-1] + 1) / 2 for means in (people, scored)]
    return _correlation(*centred)


def _tau_b(people: Floats, scored: Floats, systems: Integers) -> Floats:
    return _correlation(_signs(people), _signs(scored))


def _correlation(x: Floats, y: Floats) -> Floats:
    with np.errstate(invalid="ignore"):  # all are equal: undefined
        return np.asarray((x * y).sum(-1) / np.sqrt((x * x).sum(-1) * (y * y).sum(-1)))


def _right(
    people: Floats, scored: Floats, systems: Integers, chosen: NDArray[np.bool_] | bool = True
) -> Floats:
    first, second = _pairs(people)
    by_people, by_metric = _signs(people), _signs(scored)
    drawn_twice = systems[..., first] == systems[..., second]
    counted = np.asarray(chosen & ~drawn_twice & ~np.isnan(by_people + by_metric))
    agree = np.where(counted, by_people == by_metric, False)
    return _rounded_ratio(np.stack(np.broadcast_arrays(agree.sum(-1), counted.sum(-1)), -1))


# What arenas call the two captions, and the systems that wrote them.
_CAPTIONS = ("caption", "response", "answer", "conversation")
_SYSTEMS = ("model", "source", "system")
_SIDES = (("_a", "_b"), ("1", "2"), ("_1", "_2"))
_TIE = re.compile(r"(tied?|equal(ly)?|both(bad)?|neither)([\s_(].*)?", re.IGNORECASE)
_AS_REFERENCES = CaptionFields(references=True)


@name_wrong_argument
def read_battles(path: PathLike) -> Choices:
    """Read battles from CSV, TSV, JSON, JSON Lines, Excel or Parquet, by row.

    As CapArena has them (Cheng et al., Findings of ACL 2025), and chat arenas with ``model_a``,
    whose captions may be conversations, of which the last answer counts::

        {"img": "test_7.jpg", "source1": "a", "source2": "b", "caption1": "A dog.",
         "caption2": "A cat.", "winner": "a"}

    The winner is the name of a system or of the field with it, ``a`` or ``b``, ``1`` or ``2``, or
    ``tie``. An `AnnotationError` says what is missing.
    """
    rows = records_of(content_of_file(path, AnnotationError))
    if isinstance(rows, Entry) or not rows:
        raise AnnotationError(f"{path}: has no battle; give a table or a list.")
    captions, systems = _pair_of(rows, _CAPTIONS), _pair_of(rows, _SYSTEMS)
    references = next(iter(usual(rows.names, REFERENCE_FIELDS)), None)
    image = "img" if "img" in rows.names else usual_id(name for name in rows.names if name != "id")
    judged, preferred, fought = [], [], []
    for number, row in enumerate(rows):
        image_id = row.image_id(image) if image else number
        texts = [] if references is None else texts_of(row[references], row, _AS_REFERENCES)
        first, second = (_answer(row, name) for name in captions)
        names = [row.text(name) for name in systems]
        if isinstance(image_id, str):
            image_id = image_id_of(image_id)
        judged.append(Judged(image_id, (first, second), tuple(texts)))
        preferred.append(_preferred(row, names, systems))
        fought.append((names[0], names[1]))
    if len({name for pair in fought for name in pair}) < 2:
        raise AnnotationError(f"{path}: one system only, {fought[0][0]!r:.60}, has no battle.")
    if not any(preferred):
        raise AnnotationError(f"{path}: all battles are ties, so nothing is preferred.")
    return Choices(
        PurePath(path).stem, judged, np.array(preferred, float), [ALL] * len(judged), fought
    )


def _pair_of(rows: Entries, names: Sequence[str]) -> tuple[str, str]:
    """Return the two fields with one of the names, such as ``model_a`` and ``model_b``."""
    pairs = [(name + first, name + second) for name in names for first, second in _SIDES]
    for pair in pairs:
        if set(pair) <= set(rows.names):
            return pair
    raise AnnotationError(
        f"{rows.source.where}: needs two fields such as {pairs[0][0]!r} and {pairs[0][1]!r}; it "
        f"has {listed(rows.names)}."
    )


def _answer(row: Entry, name: str) -> str:
    """Return a caption, of a conversation the last message."""
    messages = row.get(name)
    if isinstance(messages, list) and messages and isinstance(messages[-1], Mapping):
        return Entry(messages[-1], row.within, row.ordinal, row.image).text("content")
    return row.text(name)


def _preferred(row: Entry, names: Sequence[str], fields: Sequence[str]) -> int:
    """Return 1 if the first side wins, -1 if the second, 0 if none."""
    winner = str(row["winner"]).strip()
    if names[0] != names[1]:
        for sides in (names, fields, ("a", "b"), ("1", "2")):  # a system may be called a or 2
            if winner in sides:
                return 1 if winner == sides[0] else -1
    if _TIE.fullmatch(winner):
        return 0
    raise row.refusal("winner", f"{names[0]!r:.40}, {names[1]!r:.40} or 'tie'")
