"""Scores of judged captions under drawn references, or of another tool.

They are computed part by part, so that no part is lost.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...captions.rows import Rows, answered, run_scope
from ...doors.arguments import check_whole
from ...errors import MetricUnavailable, VifidelError
from ...evaluation import Floats
from ...io.digits import rounded
from ...io.files import json_text, write_whole
from ...io.image_ids import ImageId, samples, to_json_value
from ...io.outputs import Parts
from ...scorers import Evaluation, Mean, Scorer
from ...scorers.registry import METRICS
from ...scores.significance import Bootstrap
from ...scores.systems import score_rows
from ...scores.tool_scores import columns_of, items_of
from .judgements import AS_GIVEN, Judged, References, drawn, times_drawn

#: Resamples of every interval.
RESAMPLES = 500
#: Share of the resamples that lies in an interval.
LEVEL = 0.95


@dataclass(frozen=True)
class Trials:
    """The scores of all judged captions under each number of references, in all draws."""

    seed: int  #: of the draws
    draws: int = 0  #: how often references were drawn; 0 if there was nothing to draw
    #: The numbers of references that some metric was computed with.
    references: list[References] = field(default_factory=list)
    #: Metric to number of references to float64 of shape (draws, captions judged together,
    #: judgements): ten significant digits, NaN where the score is undefined. Higher is better in
    #: all of them, as in what people say: where lower is better the sign is changed.
    scores: dict[str, dict[References, Floats]] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)  #: metric to signature
    #: Why metrics could not be computed here.
    unavailable: dict[str, MetricUnavailable] = field(default_factory=dict)
    #: Number of references to how many judgements have fewer.
    short: dict[int, int] = field(default_factory=dict)
    lower_is_better: frozenset[str] = frozenset()  #: the metrics in which lower is better

    @property
    def bootstrap(self) -> Bootstrap:
        """What intervals are drawn with."""
        return Bootstrap(self.seed, RESAMPLES, LEVEL)

    def columns(self) -> Iterator[tuple[str, References, Floats]]:
        """Yield each metric, number of references, and the metric's scores with so many."""
        for metric, by_number in self.scores.items():
            for number, draws in by_number.items():
                yield metric, number, draws

    def by_number(self) -> Iterator[tuple[References, dict[str, Floats]]]:
        """Yield each number of references, and the scores of all metrics that have some for it."""
        for number in [n for n in self.references if n != AS_GIVEN] or [AS_GIVEN]:
            draws = {m: drawn.get(number, drawn.get(AS_GIVEN)) for m, drawn in self.scores.items()}
            yield number, {m: of_number for m, of_number in draws.items() if of_number is not None}

    def with_tool_scores(
        self,
        of_tools: Iterable[tuple[Mapping[str, Floats], str]],
        lower_is_better: Collection[str] = (),
    ) -> Trials:
        """Return these trials with what `read_scores` returned of other tools' files."""
        scores, signatures, lower = {**self.scores}, {**self.signatures}, {*self.lower_is_better}
        for columns, digest in of_tools:
            for name, of_tool in columns.items():
                if name in signatures:
                    raise VifidelError(
                        f"there is another {name}: give these scores another name, as in --scores "
                        "NAME=FILE."
                    )
                sign = 1
                if name in lower_is_better:
                    sign = -1
                    lower.add(name)
                scores[name] = {AS_GIVEN: sign * of_tool[np.newaxis]}
                signatures[name] = f"{name}|scores:given|files:{digest}"
        for name in lower_is_better:
            if name not in lower:
                raise VifidelError(f"lower is better for {name!r}, but no file of --scores has it.")
        return replace(
            self,
            references=[*self.references, *[AS_GIVEN] * (len(scores) > len(self.scores))],
            scores=scores,
            signatures=signatures,
            lower_is_better=frozenset(lower),
        )

    def notes(self) -> list[str]:
        """Return what a table of these trials must say: how they were made, and signatures."""
        times = "once" if self.draws == 1 else f"{self.draws} times"
        draws = f"References drawn {times}. " if self.draws else ""
        notes_of_few = [
            f"{judgements} judgements have fewer than {number} references."
            for number, judgements in self.short.items()
            if judgements
        ]
        lower = [metric for metric in self.signatures if metric in self.lower_is_better]
        return [
            f"{draws}Intervals: {100 * LEVEL:g} %, {RESAMPLES} resamples of the images, seed "
            f"{self.seed}.",
            *notes_of_few,
            *([f"Sign changed, as lower is better: {', '.join(lower)}."] if lower else []),
            *dict.fromkeys(self.signatures.values()),
            *(f"{name} not available: {why}" for name, why in self.unavailable.items()),
        ]

    def to_json(self) -> dict[str, Any]:
        """Return how the trials were made; the scores are not in it."""
        unavailable = {name: str(why) for name, why in self.unavailable.items()}
        return {
            "seed": self.seed,
            "draws": self.draws,
            "resamples": RESAMPLES,
            "level": LEVEL,
            "fewer_references": {str(number): n for number, n in self.short.items() if n},
            "signatures": self.signatures,
            **({"lower_is_better": sorted(self.lower_is_better)} if self.lower_is_better else {}),
            **({"unavailable": unavailable} if unavailable else {}),
        }


def run_trials(
    judged: Sequence[Judged],
    scorers: Mapping[str, Scorer],
    numbers: Sequence[References],
    draws: int,
    seed: int,
    parts: Parts,
    on_progress: Callable[[int], object] = lambda _: None,
    unavailable: Mapping[str, MetricUnavailable] | None = None,
) -> Trials:
    """Score judged captions, with each number of references, under every metric.

    `scorers` are metrics by name, `numbers` whole numbers of references or ``"all"``; where
    an image has more, they are drawn `draws` times (`drawn`). A part of `parts` is one metric with
    one draw, and is not computed again. `on_progress` is called with the number of scores just
    computed, in total what `work` returns. `unavailable` has the reasons of metrics that are
    known not to work here. A `VifidelError` says that there is no draw, or the seed is negative.
    """
    check_whole(0, seed=seed)
    check_whole(1, draws=draws)
    reasons = dict(unavailable or {})
    as_written = any(scorer.takes_texts for scorer in scorers.values())
    planned = [
        _Draw(judged, number, drawn(judged, number, seed, draw), as_written)
        for number in numbers
        for draw in range(times_drawn(judged, number, draws))
    ]
    computed = _computed(planned, scorers, reasons, parts, on_progress)
    all_scores: dict[str, dict[References, Floats]] = {}
    signatures: dict[str, str] = {}
    lower = set()
    images = list(dict.fromkeys(captions.image_id for captions in judged))
    for name, of_metric in computed.items():
        if of_metric:
            signatures |= dict.fromkeys(of_metric, scorers[name].signature(images))
        columns = zip(of_metric.items(), scorers[name].columns, strict=False)
        for (column, by_number), record in columns:
            if record.lower_is_better:
                lower.add(column)
            sign = -1 if record.lower_is_better else 1
            all_scores[column] = {n: sign * np.array(scores) for n, scores in by_number.items()}
    return Trials(
        seed=seed,
        draws=draws if any(times_drawn(judged, number, 2) > 1 for number in numbers) else 0,
        references=[
            number
            for number in dict.fromkeys(numbers)
            if any(number in by_number for by_number in all_scores.values())
        ],
        scores=all_scores,
        signatures=signatures,
        unavailable=reasons,
        short={
            number: sum(len(pair.others(pair.references)) < number for pair in judged)
            for number in numbers
            if isinstance(number, int)
        },
        lower_is_better=frozenset(lower),
    )


#: Column to number of references to the scores of each draw.
_Columns = dict[str, dict[References, list[Floats]]]


def _computed(
    planned: Sequence[_Draw],
    scorers: Mapping[str, Scorer],
    reasons: dict[str, MetricUnavailable],
    parts: Parts,
    on_progress: Callable[[int], object],
) -> dict[str, _Columns]:
    """Return the scores of each metric; add to `reasons` why some cannot be computed."""
    failed: dict[Scorer, MetricUnavailable] = {}
    computed: dict[str, _Columns] = {name: {} for name in scorers}
    with ExitStack() as stack:
        in_run = {}
        for base, name in _bases(scorers).items():
            of_base = [draw for draw in planned if base in _bases(_usable(scorers, draw.number))]
            rows = [of_side for draw in of_base for of_side in draw.scored(name)[1].values()]
            in_run[base] = stack.enter_context(base.in_run(rows))
        for draw in planned:
            usable = _usable(scorers, draw.number)
            draws: dict[Scorer, dict[str, Floats]] = {}
            with run_scope():  # these references: the next draw has others
                for base, name in _bases(usable).items():
                    try:
                        if base not in failed:
                            draws[base] = draw.columns(base, in_run[base], name, parts, on_progress)
                    except MetricUnavailable as problem:
                        failed[base] = problem
            for name, scorer in usable.items():
                problems = [failed[base] for base in _bases({name: scorer}) if base in failed]
                if problems:
                    reasons[name] = problems[0]
                    continue
                for column, scores in _columns(name, scorer, draws).items():
                    computed[name].setdefault(column, {}).setdefault(draw.number, []).append(scores)
    return computed


def work(
    judged: Sequence[Judged],
    scorers: Mapping[str, Scorer],
    numbers: Sequence[References],
    draws: int,
) -> int:
    """Return how many scores `run_trials` will compute."""
    captions = sum(len(pair.captions) for pair in judged)
    return sum(
        captions * len(_bases(_usable(scorers, number))) * times_drawn(judged, number, draws)
        for number in numbers
    )


def needs_references(name: str) -> bool:
    """Return whether a metric, or a part of a combination, compares with references.

    Names that are not in the registry, such as those of an ablation, do not.
    """
    return any(METRICS[part].references for part in name.split("+") if part in METRICS)


def _usable(scorers: Mapping[str, Scorer], number: References) -> dict[str, Scorer]:
    return {n: s for n, s in scorers.items() if number != 0 or not needs_references(n)}


def _bases(scorers: Mapping[str, Scorer]) -> dict[Scorer, str]:
    """Return the metrics that are computed, with their names: combinations follow from them."""
    return {
        base: part
        for name, scorer in scorers.items()
        for part, base in zip(
            name.split("+"), scorer.parts if isinstance(scorer, Mean) else [scorer], strict=False
        )
    }


class _Draw:
    """The captions judged together as systems, with one draw of references."""

    def __init__(
        self,
        judged: Sequence[Judged],
        number: References,
        references: list[list[str]],
        as_written: bool,
    ) -> None:
        self.number = number
        self._judged = judged
        self._references, self._as_written = references, as_written
        self._images = list(dict.fromkeys(captions.image_id for captions in judged))
        images = [[to_json_value(pair.image_id), pair.captions] for pair in judged]
        self._content = json.dumps([images, references])
        self._scored: dict[bool, tuple[list[int], dict[str, Rows]]] = {}

    def scored(self, name: str) -> tuple[list[int], dict[str, Rows]]:
        """Return the judgements that a metric can score, and their captions as systems."""
        needs = needs_references(name)  # an own caption may be the only reference of its image
        if needs not in self._scored:
            places = [at for at, refs in enumerate(self._references) if refs or not needs]
            systems = {}
            for side in range(len(self._judged[0].captions)):
                rows = Rows(
                    [self._judged[at].captions[side] for at in places],
                    [self._references[at] for at in places],
                    [self._judged[at].image_id for at in places],
                )
                systems[f"caption {side + 1}"] = rows if self._as_written else answered(rows)
            self._scored[needs] = places, systems
        return self._scored[needs]

    def columns(
        self,
        scorer: Scorer,
        in_run: Scorer,
        name: str,
        parts: Parts,
        on_progress: Callable[[int], object],
    ) -> dict[str, Floats]:
        """Return a metric's scores: column to (captions judged together, judgements)."""
        places, systems = self.scored(name)
        content = f"{scorer.signature(self._images)}\n{self._content}".encode()
        key = hashlib.sha256(content).hexdigest()
        if key in parts:
            on_progress(len(self._judged) * len(systems))
        else:
            scored = score_rows(systems, {scorer.method(): in_run}, on_progress)
            on_progress((len(self._judged) - len(places)) * len(systems))
            computed: dict[str, list[list[float | None]]] = {name: [] for name in scored.signatures}
            for column, rows in computed.items():
                for of_side in scored.evaluations.values():
                    scores = map(rounded, of_side[column].scores.tolist())
                    by_place = dict(zip(places, scores, strict=True))
                    rows.append([by_place.get(at) for at in range(len(self._judged))])
            parts.add(key, computed)
        return {column: np.array(rows, np.float64) for column, rows in parts[key].items()}


def _columns(
    name: str, scorer: Scorer, computed: Mapping[Scorer, dict[str, Floats]]
) -> dict[str, Floats]:
    """Return a metric's scores by what its columns are called."""
    if not isinstance(scorer, Mean):
        scores = computed[scorer]
        return scores if len(scores) > 1 else dict(zip([name], scores.values(), strict=True))
    # A part with several columns is combined by its main one.
    columns = ((part.main, computed[part]) for part in scorer.parts)
    of_parts = [
        scores[main] if len(scores) > 1 else next(iter(scores.values())) for main, scores in columns
    ]
    evaluations = [
        [Evaluation(range(len(scores)), scores) for scores in of_side]
        for of_side in zip(*of_parts, strict=True)
    ]
    combined = [[rounded(s) for s in e.scores.tolist()] for e in scorer.combine(evaluations)]
    return {name: np.array(combined, np.float64)}


def write_candidates(path: Path, judged: Sequence[Judged]) -> None:
    """Write the captions that another tool is to score: a JSON list, in the order of the data set.

    An entry is of one caption::

        {"id": "7.1", "image_id": "2008_007226", "caption": "the potted plant",
         "references": ["A plant in a pot.", "..."]}

    The references are all of the image's that say something else than the captions judged together.
    """
    entries = [
        {
            "id": entry_id,
            "image_id": to_json_value(pair.image_id),
            "caption": caption,
            "references": pair.others(pair.references),
        }
        for entry_id, pair, caption in _identified(judged)
    ]
    write_whole(path, json_text(entries) + "\n")


def read_scores(
    path: Path, judged: Sequence[Judged], name: str = ""
) -> tuple[dict[str, Floats], str]:
    """Return the scores of another tool, (captions judged together, judgements), and a digest.

    The file is that of `write_candidates` with ``"score"`` in each entry, or has numbers for its
    ids in any layout of `vifidel_eval.scores.tool_scores`; `name` is as `columns_of` takes it. A
    VifidelError says what is wrong, that a caption is another one, or that an id has no entry.
    """
    captions: dict[ImageId, str] = {at: caption for at, _, caption in _identified(judged)}
    items, where, digest = items_of(path, id_fields=("id",))
    for item in items:
        if item.get("caption", captions.get(item.image)) != captions.get(item.image):
            raise item.error(
                f"{item}: {item['caption']!r:.60} is not the caption with that id; are the "
                "scores for this data set?"
            )
    columns = columns_of(items, where, name)
    scored = {item.image for item in items}
    missing = [entry_id for entry_id in captions if entry_id not in scored]
    if missing or len(scored) > len(captions):
        raise VifidelError(
            f"{where}: {len(scored)} scores for {len(captions)} captions, {len(missing)} without "
            f"one (ids {samples(missing)}); are they for this data set?"
        )
    return {
        column: np.array([scores[entry_id] for entry_id in captions]).reshape(len(judged), -1).T
        for column, scores in columns.items()
    }, digest


def _identified(judged: Sequence[Judged]) -> Iterator[tuple[str, Judged, str]]:
    for number, pair in enumerate(judged, 1):
        for side, caption in enumerate(pair.captions, 1):
            yield f"{number}.{side}", pair, caption
