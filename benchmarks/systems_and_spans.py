"""Seconds for systems, spans, judges and preference pairs of many rows, made up.

python benchmarks/systems_and_spans.py --rows 300000
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np

from vifidel_eval.evaluation import Evaluation
from vifidel_eval.plugins.agreement.judgements import Judged, Ratings
from vifidel_eval.plugins.agreement.judges import MADE_UP, audit_judges
from vifidel_eval.plugins.agreement.result import Agreement
from vifidel_eval.plugins.agreement.spans import Marked, Span, compare_spans
from vifidel_eval.plugins.agreement.systems import with_systems
from vifidel_eval.plugins.agreement.trials import Trials
from vifidel_eval.plugins.training.preferences import preference_pairs
from vifidel_eval.scores.scores import Scores

SYSTEMS = 6
CAPTION = "A brown dog chases two small cats over the wet grass"


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print how long something took."""
    start = time.perf_counter()
    yield
    print(f"{what}: {time.perf_counter() - start:.1f} s")


def main(rows: int, seed: int = 0) -> None:
    """Time each on so many rows of six captions for an image."""
    random = np.random.default_rng(seed)
    image, system = np.divmod(np.arange(rows), SYSTEMS)
    judged = [Judged(at, (CAPTION,), ()) for at in image.tolist()]
    scores = random.normal(size=rows)

    names = [f"system {n}" for n in system.tolist()]
    answers = np.round(scores + 0.1 * system + random.normal(size=rows))
    ratings = Ratings("made", judged, {"q": answers[:, np.newaxis]}, {"all": answers > -99}, names)
    by_number = {"all": scores[np.newaxis, np.newaxis]}
    trials = Trials(seed, 0, ["all"], {"M": by_number}, {}, {}, {})
    with timed("systems of one metric"):
        with_systems(Agreement("made", {}, [], [], [], trials), ratings)

    people, tool = (
        [(Span(2, 7, "colour"), Span(23, 33, "object")) if some else () for some in marked]
        for marked in random.random((2, rows)) < 0.3
    )
    with timed("spans of two kinds by one tool"):
        compare_spans(Marked("made", judged, people), {"tool": tool}, trials)

    evaluations, captions = {}, {}
    for n in range(SYSTEMS):
        words = random.integers(5, 100, rows // SYSTEMS)
        made_up = random.poisson(words / 50).astype(float)
        score = words / 50 - made_up + random.normal(size=len(words))
        ids = range(len(words))
        evaluations[str(n)] = {"J": Evaluation(ids, score), MADE_UP: Evaluation(ids, made_up)}
        captions[str(n)] = {at: "word " * number for at, number in enumerate(words.tolist())}
    detail = Scores({"J": "J|scores:given|", MADE_UP: "VIFIDEL-H"}, evaluations)
    of_system: Callable[[str], dict[int, str]] = captions.__getitem__
    with timed("one judge"):
        audit_judges(SimpleNamespace(detail=detail, captions=of_system))  # type: ignore[arg-type]

    texts = [f"{CAPTION} {n}" for n in range(rows)]
    import pandas

    frame = pandas.DataFrame({"image_id": image, "caption": texts, "score": scores})
    with timed("preference pairs of rows with scores"):
        preference_pairs(frame, "score", equal_length=0.1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300_000)
    main(parser.parse_args().rows)
