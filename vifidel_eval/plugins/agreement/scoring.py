"""The captions that people judged, scored against one draw of references."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from ...captions.rows import Rows
from ...errors import MetricUnavailable
from ...evaluation import Floats
from ...io.digits import rounded
from ...io.image_ids import to_json_value
from ...io.records import Parts
from ...scorers import Evaluation, Mean, Scorer
from ...scores.harness import score_rows
from .judgements import Judged


def bases(scorers: Mapping[str, Scorer]) -> list[Scorer]:
    """Return the metrics that are to be computed, each once: combinations follow from them."""
    parts = [scorer.parts if isinstance(scorer, Mean) else (scorer,) for scorer in scorers.values()]
    return list(dict.fromkeys(itertools.chain.from_iterable(parts)))


class JudgedRows:
    """The captions judged together as systems, with one draw of references.

    Parameters
    ----------
    judged : sequence of Judged
        What people judged.
    gts : mapping
        The references of each judgement, by its place.
    needing : collection of Scorer
        The metrics that have no score where there is no reference.
    """

    def __init__(
        self,
        judged: Sequence[Judged],
        gts: Mapping[int, list[str]],
        needing: Collection[Scorer],
    ) -> None:
        self.judged = judged
        self.gts = gts
        self.sides = range(len(judged[0].captions))
        self._needing = needing
        self._systems: dict[bool, dict[str, Rows]] = {}

    def places(self, scorer: Scorer) -> list[int]:
        """Return the judgements that a metric can score.

        A judgement's own caption may be its image's only reference.
        """
        return [at for at, refs in self.gts.items() if refs or scorer not in self._needing]

    def systems(self, scorer: Scorer) -> dict[str, Rows]:
        """Return what a metric scores: the first captions, the second ones ..."""
        needs = scorer in self._needing
        if needs not in self._systems:
            places = self.places(scorer)
            self._systems[needs] = {
                f"caption {side + 1}": Rows(
                    [self.judged[at].captions[side] for at in places],
                    [self.gts[at] for at in places],
                    [self.judged[at].image_id for at in places],
                )
                for side in self.sides
            }
        return self._systems[needs]


class Scoring:
    """Scores the captions judged together against one draw of references.

    Parameters
    ----------
    rows : JudgedRows
        The captions and references.
    in_run : mapping
        From each metric to what `Scorer.in_run` gives for it.
    parts : Parts
        What is in it is not computed again.
    failed : dict
        Metrics that are not tried again, with the reason; those that fail join them.
    on_progress : callable, optional
        Called with the number of scores just computed.
    """

    def __init__(
        self,
        rows: JudgedRows,
        in_run: Mapping[Scorer, Scorer],
        parts: Parts,
        failed: dict[Scorer, MetricUnavailable],
        on_progress: Callable[[int], object] | None,
    ) -> None:
        self._rows = rows
        self._in_run = in_run
        self._parts = parts
        self._failed = failed
        self._on_progress = on_progress
        self._images = list(dict.fromkeys(one.image_id for one in rows.judged))
        images = [[to_json_value(one.image_id), one.captions] for one in rows.judged]
        self._content = json.dumps([images, list(rows.gts.values())])
        self._known: dict[Scorer, dict[str, Floats]] = {}

    def columns(self, name: str, scorer: Scorer) -> dict[str, Floats]:
        """Return a metric's scores: column to (captions judged together, number of judgements).

        Raises
        ------
        MetricUnavailable
            If it, or a part of a combination, cannot be computed here.
        """
        if not isinstance(scorer, Mean):
            columns = self._columns(scorer)
            return columns if len(columns) > 1 else {name: next(iter(columns.values()))}
        ids = list(self._rows.gts)
        of_parts = [list(self._columns(part).values())[-1] for part in scorer.parts]
        combined = scorer.combine(
            [[Evaluation(ids, scores) for scores in side] for side in zip(*of_parts, strict=True)]
        )
        return {name: np.array([_rounded(e.scores) for e in combined], np.float64)}

    def _columns(self, scorer: Scorer) -> dict[str, Floats]:
        if scorer in self._failed:
            raise self._failed[scorer]
        if scorer not in self._known:
            content = f"{scorer.signature(self._images)}\n{self._content}".encode()
            key = hashlib.sha256(content).hexdigest()
            if key not in self._parts:
                self._parts.add(key, self._computed(scorer))
            elif self._on_progress is not None:
                self._on_progress(len(self._rows.gts) * len(self._rows.sides))
            part = self._parts[key]
            self._known[scorer] = {c: np.array(rows, np.float64) for c, rows in part.items()}
        return self._known[scorer]

    def _computed(self, scorer: Scorer) -> dict[str, list[list[float | None]]]:
        places, systems = self._rows.places(scorer), self._rows.systems(scorer)
        try:
            scores = score_rows(systems, {scorer.method(): self._in_run[scorer]}, self._on_progress)
        except MetricUnavailable as problem:
            self._failed[scorer] = problem
            raise
        if self._on_progress is not None:
            self._on_progress((len(self._rows.gts) - len(places)) * len(systems))
        return {
            column: [self._spread(e[column], places) for e in scores.evaluations.values()]
            for column in scores.signatures
        }

    def _spread(self, evaluation: Evaluation, places: Sequence[int]) -> list[float | None]:
        """Return a score for each judgement, None for those that are not at `places`."""
        known = dict(zip(places, _rounded(evaluation.scores), strict=True))
        return [known.get(at) for at in self._rows.gts]


def _rounded(scores: Floats) -> list[float | None]:
    return [rounded(score) for score in scores.tolist()]
