"""Times of VIFIDEL and VIFIDEL-PRF beside the solver, pycocoevalcap and a plain implementation.

    python benchmarks/speed.py CAPTIONS.json RESULTS.json INSTANCES.json

Everything runs in one process, one after the other, repeated; medians are printed as
microseconds per caption on this machine and as ratios, which carry over to others. VIFIDEL starts
from raw captions in dictionaries and ends at scores; pycocoevalcap's metrics get captions that
are tokenised already. *Bare simplex* is POT's compiled solver alone on the same problems.
*Plain* follows the published formulas caption by caption (tests/oracle.py) with `ot.emd2`; it is
slow and so timed on the first 200 captions. The last line is one scorer in 8 threads: the time of
eight evaluations one after the other over that of the same eight in eight threads. Reading the
instances is timed beside parsing them with `json`, in processor time, the best of several.

The first table is of processor time: a scorer's first call, in a process of its own in which the
libraries are loaded, then calls with new references and with the same ones, each over the bare
simplex right before and after it; medians of several processes.

The last table is of BLEU, ROUGE-L and CIDEr beside pycocoevalcap's classes, all from tokens and in
processor time: the first call in a process of its own (cold), a new scorer's first call, a further
system of a run, and 64 captions alone.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import math
import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click
import numpy as np
import ot
from ot.lp.emd_wrap import emd_c
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge
from tabulate import tabulate

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from oracle import vifidel

from vifidel_eval import Vifidel, content_words, scorers
from vifidel_eval.annotations import read_objects
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.captions.rows import coco_rows
from vifidel_eval.scorers import VifidelPRF
from vifidel_eval.words.english import singular
from vifidel_eval.words.tokenization import Tokenization
from vifidel_eval.words.word_vectors import load_vectors

NEW = "(1) VIFIDEL, 4 references, new ones"
SAME = "(2) VIFIDEL, 4 references, those of the system before"
REPEATS = 7
PROCESSES = 7
THREADS = 8
PLAIN_CAPTIONS = 200
FEW = 64
COMPANIONS = {
    "BLEU": (lambda: Bleu(4), scorers.Bleu),
    "ROUGE-L": (Rouge, scorers.RougeL),
    "CIDEr": (Cider, scorers.Cider),
}


def seconds(run: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the median time of a call."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        with contextlib.redirect_stdout(io.StringIO()):
            run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def fresh(texts: dict[Any, list[str]]) -> dict[Any, list[str]]:
    """Return the same captions in new lists: nothing prepared for the old ones is reused."""
    return {image_id: [*captions] for image_id, captions in texts.items()}


def processor_seconds(run: Callable[[], object]) -> float:
    """Return the processor time of one call."""
    gc.collect()
    start = time.process_time()
    run()
    return time.process_time() - start


def calls(metric: str, files: Sequence[Path]) -> list[float]:
    """Return first call, new references and same references in times of the bare simplex."""
    objects = read_objects(files[2])
    gold, results = read_references(files[0]), read_results(files[1])
    gts = {i: captions[:4] for i, captions in gold.items() if i in results and objects.get(i)}
    res = {i: [results[i]] for i in gts}
    other = {i: captions[::-1] for i, captions in gts.items()}
    scorer = {"VIFIDEL": Vifidel, "VIFIDEL-PRF": VifidelPRF}[metric](files[2])
    singular("dogs")
    random = np.random.default_rng(0)
    problems = []
    for i in gts:
        sizes = len(objects.get(i)), len(set(content_words(res[i][0])))
        if all(sizes):
            problems.append((*(np.full(n, 1 / n) for n in sizes), random.random(sizes)))

    def ratio(run: Callable[[], object]) -> float:
        def bare() -> None:
            for left, right, costs in problems:
                emd_c(left, right, costs, 100_000, 1)

        before, own, after = map(processor_seconds, (bare, run, bare))
        return (own / len(gts)) / ((before + after) / 2 / len(problems))

    first = ratio(lambda: scorer.compute_score(gts, res))
    new = [ratio(lambda: scorer.compute_score(g, res)) for g in (other, gts) * 3]  # noqa: B023
    same = [ratio(lambda: scorer.compute_score(gts, res)) for _ in range(REPEATS)]
    return [first, statistics.median(new), statistics.median(same)]


def print_calls(files: Sequence[Path]) -> None:
    """Print what `calls` returns of each metric."""
    rows = []
    for metric in ("VIFIDEL", "VIFIDEL-PRF"):
        measured = []
        for _ in range(PROCESSES):
            spawn = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(1, mp_context=spawn) as process:
                measured.append(process.submit(calls, metric, files).result())
        rows.append([metric, *map(statistics.median, zip(*measured, strict=True))])
    headers = ["times bare simplex", "first call", "new references", "same references"]
    print(tabulate(rows, headers=headers, floatfmt=".1f"))


def unit_vectors() -> Callable[[str], np.ndarray]:
    """Return a function from a word or label to its vector of length 1."""
    vectors, known = load_vectors(), {}

    def unit(rows: np.ndarray) -> np.ndarray:
        return rows / np.linalg.norm(rows, axis=-1, keepdims=True)

    def vector_of(word: str) -> np.ndarray:
        if word not in known:
            known[word] = unit(unit(vectors.lookup(word.split())).mean(axis=0))
        return known[word]

    return vector_of


def print_reading(instances: Path) -> None:
    """Print what reading the objects costs beside `json.load` of the same file."""

    def parse() -> None:
        with open(instances, encoding="utf-8") as file:
            json.load(file)

    best = {}
    for name, run in (("json", parse), ("objects", lambda: read_objects(instances))) * REPEATS:
        gc.collect()
        start = time.process_time()
        run()
        best[name] = min(best.get(name, math.inf), time.process_time() - start)
    ratio = best["objects"] / best["json"]
    print(f"reading {instances.name}: {ratio:.2f} times json.load ({1e3 * best['json']:.0f} ms)")


class AsGiven:
    """A tokenizer of captions that are tokens already."""

    name = "given"

    def tokenize_each(self, several: Sequence[dict[Any, list[str]]]) -> list[dict[Any, list[str]]]:
        """Return the captions."""
        return list(map(dict, several))


def first_call(
    metric: str, ours: bool, gts: dict[Any, list[str]], res: dict[Any, list[str]]
) -> float:
    """Return the processor time of a new scorer's first call."""
    scorer = COMPANIONS[metric][ours]()
    with contextlib.redirect_stdout(io.StringIO()):
        return processor_seconds(lambda: scorer.compute_score(gts, res))


def cold_ratio(metric: str, gts: dict[Any, list[str]], res: dict[Any, list[str]]) -> float:
    """Return how many times faster than pycocoevalcap's class a process's first call is."""
    times = []
    for ours in (False, True):
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=spawn) as process:
            times.append(process.submit(first_call, metric, ours, gts, res).result())
    return times[0] / times[1]


def print_companions(gts: dict[Any, list[str]], res: dict[Any, list[str]]) -> None:
    """Print how many times faster than pycocoevalcap's class each metric is."""
    texts = list(res.values())
    other = dict(zip(res, texts[1:] + texts[:1], strict=True))
    some = list(gts)[:FEW]
    few = [{i: side[i] for i in some} for side in (gts, res)]
    systems = [coco_rows(gts, res), coco_rows(gts, other)]
    rows = []
    for name, (stock, metric) in COMPANIONS.items():
        measured = []
        for _ in range(REPEATS):
            ours = metric(Tokenization(AsGiven()))
            with contextlib.redirect_stdout(io.StringIO()):
                theirs = processor_seconds(lambda: stock().compute_score(gts, res))  # noqa: B023
                first = processor_seconds(lambda: ours.compute_score(gts, res))  # noqa: B023
                with metric(Tokenization(AsGiven())).in_run(systems) as of_run:
                    of_run.evaluate(systems[0], signed=False)
                    further = processor_seconds(lambda: of_run.evaluate(systems[1], signed=False))
                alone = [
                    processor_seconds(lambda: [one.compute_score(*few) for _ in range(20)])  # noqa: B023
                    for one in (stock(), ours)
                ]
            cold = cold_ratio(name, gts, res)
            measured.append([cold, theirs / first, theirs / further, alone[0] / alone[1]])
        rows.append([name, *map(statistics.median, zip(*measured, strict=True))])
    headers = ["times faster", "cold", "first call", "further system", f"{FEW} captions alone"]
    print(tabulate(rows, headers=headers, floatfmt=".1f"))


@click.command()
@click.argument("references", type=click.Path(exists=True, path_type=Path))
@click.argument("results", type=click.Path(exists=True, path_type=Path))
@click.argument("instances", type=click.Path(exists=True, path_type=Path))
def main(references: Path, results: Path, instances: Path) -> None:
    """Time all of them on COCO files: REFERENCES, RESULTS of one system, INSTANCES."""
    print_calls((references, results, instances))
    objects = read_objects(instances)
    res = {i: [caption] for i, caption in read_results(results).items() if objects.get(i)}
    gts = {i: captions[:4] for i, captions in read_references(references).items() if i in res}
    res = {i: res[i] for i in gts}
    tokenised = [
        {i: [" ".join(c.lower().replace(".", "").replace(",", "").split()) for c in captions]
         for i, captions in side.items()}
        for side in (gts, res)
    ]  # fmt: skip

    weighted = Vifidel(instances)
    unweighted = Vifidel(instances, references=False)
    start = time.perf_counter()
    weighted.compute_score(gts, res)
    first = time.perf_counter() - start
    unweighted.compute_score(gts, res)
    prf, prf_without = VifidelPRF(instances), VifidelPRF(instances, references=False)
    for scorer in (prf, prf_without):
        scorer.compute_score(gts, res)

    problems = []
    for i in gts:
        matches = unweighted.explain(i, res[i][0])
        rows = len({m.label for m in matches.matches})
        columns = len({m.word for m in matches.matches})
        if rows and columns:
            random = np.random.default_rng(len(problems))
            problems.append(
                (np.full(rows, 1 / rows), np.full(columns, 1 / columns),
                 random.random((rows, columns)))
            )  # fmt: skip

    def bare() -> None:
        for left, right, costs in problems:
            emd_c(left, right, costs, 100_000, 1)

    vector_of = unit_vectors()
    some = list(gts)[:PLAIN_CAPTIONS]

    def plain() -> None:
        for i in some:
            vifidel(
                objects[i],
                content_words(res[i][0]),
                [content_words(reference) for reference in gts[i]],
                vector_of,
                solve=lambda a, b, costs: float(ot.emd2(np.array(a), np.array(b), costs)),
            )

    plain()  # looks all vectors up
    times = {
        "bare simplex": seconds(bare) / len(problems),
        "VIFIDEL, no references": seconds(
            lambda: unweighted.compute_score(fresh(gts), res)
        ) / len(gts),
        NEW: 0.0,
        SAME: seconds(
            lambda: weighted.compute_score(gts, res)
        ) / len(gts),
        "VIFIDEL-PRF, no references": seconds(
            lambda: prf_without.compute_score(fresh(gts), res)
        ) / len(gts),
        "VIFIDEL-PRF, 4 references, those of the system before": seconds(
            lambda: prf.compute_score(gts, res)
        ) / len(gts),
        "VIFIDEL, 4 references, first call of a process": first / len(gts),
    }  # fmt: skip
    other = {i: captions[::-1] for i, captions in gts.items()}
    both = seconds(lambda: [weighted.compute_score(g, res) for g in (gts, other)])
    times[NEW] = both / 2 / len(gts)
    both = seconds(lambda: [prf.compute_score(g, res) for g in (gts, other)])
    times["VIFIDEL-PRF, 4 references, new ones"] = both / 2 / len(gts)
    for name, scorer in (("ROUGE-L", Rouge()), ("BLEU", Bleu(4)), ("CIDEr", Cider())):
        times[name] = seconds(lambda: scorer.compute_score(*tokenised), 3) / len(gts)  # noqa: B023
    times["plain VIFIDEL, 4 references"] = seconds(plain, 3) / len(some)

    print(f"{len(gts)} captions, medians of {REPEATS} runs (BLEU, ROUGE-L, CIDEr, plain: 3)")
    print(
        tabulate(
            [
                (name, 1e6 * t, t / times["bare simplex"], t / times[NEW], t / times[SAME])
                for name, t in sorted(times.items(), key=lambda item: item[1])
            ],
            headers=["", "us a caption", "times bare simplex", "times (1)", "times (2)"],
            floatfmt=(".1f", ".1f", ".1f", ".2f", ".2f"),
        )
    )
    alone = seconds(lambda: [weighted.compute_score(gts, res) for _ in range(THREADS)], 3)
    with ThreadPoolExecutor(THREADS) as pool:
        together = seconds(
            lambda: list(pool.map(lambda _: weighted.compute_score(gts, res), range(THREADS))), 3
        )
    print_reading(instances)
    print_companions(*tokenised)
    print(f"{THREADS} threads: {alone / together:.2f} times the throughput of one")


if __name__ == "__main__":
    main()
