"""What caches save: the CPU time of two pieces of work with each cache switched off.

    python benchmarks/caches.py COCO [--images 1000] [--repeats 3] [--only WORD] [--least 20]

COCO holds ``captions_val2017_{references,human_results,shuffled_results}.json`` and
``instances_val2017.json``. A cache is a place in the code that makes one: `functools.cache`,
`lru_cache`, `cached_property`, `Remembered` and `make_once`. The work is

- *run*: two systems under the default metrics, VIFIDEL-H and VIFIDEL-PRF, by `evaluate`;
- *rows*: 200 captions one by one, by the `score` of VIFIDEL and VIFIDEL-PRF, as rewards call it.

Each is done in a process of its own, with all caches and without one of them, in turns. Printed are
the places that are filled at least `--least` times, with the times without the cache over those
with it: 1.00 says that it saves nothing here. Ratios are of the least of `--repeats`, so that other
work on the machine matters little; two in a hundred is noise. All scores must stay the same.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from tabulate import tabulate

PACKAGE = Path(__file__).resolve().parents[1]
WORKS = ("run", "rows")


def watch(switched_off: str) -> Counter[str]:
    """Have one cache keep nothing from now on; return how often each of the others is filled."""
    filled: Counter[str] = Counter()
    real_lru_cache, real_cached_property = functools.lru_cache, functools.cached_property

    def place() -> str:
        frame = sys._getframe(2)
        file = Path(frame.f_code.co_filename)
        inside = PACKAGE in file.parents and file != Path(__file__).resolve()
        return f"{file.relative_to(PACKAGE)}:{frame.f_lineno}" if inside else ""

    def counted(where: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def count(*args: Any, **kwargs: Any) -> Any:
            filled[where] += 1
            return function(*args, **kwargs)

        try:
            return functools.update_wrapper(count, function)
        except AttributeError:
            return count

    def kept(where: str, function: Callable[..., Any], maxsize: int | None) -> Any:
        if not where:
            return real_lru_cache(maxsize)(function)
        if where != switched_off:
            return real_lru_cache(maxsize)(counted(where, function))
        every = counted(where, function)
        every.cache_clear = lambda: None  # type: ignore[attr-defined]
        return every

    def cache(function: Callable[..., Any]) -> Any:
        return kept(place(), function, None)

    def lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
        where = place()
        if callable(maxsize):
            return kept(where, maxsize, 128)
        return lambda function: kept(where, function, maxsize)

    def cached_property(function: Callable[[Any], Any]) -> Any:
        where = place()
        if not where:
            return real_cached_property(function)
        found = counted(where, function)
        return property(found) if where == switched_off else real_cached_property(found)

    functools.cache, functools.lru_cache = cache, lru_cache
    functools.cached_property = cached_property  # type: ignore[misc,assignment]

    from vifidel_eval.io import caches

    class Remembered(caches.Remembered[Any, Any]):
        def __init__(self, function: Callable[[Any], Any], times: int = 1) -> None:
            where = place()
            super().__init__(counted(where, function), 0 if where == switched_off else times)

    caches.Remembered = Remembered  # type: ignore[misc]
    from vifidel_eval.captions import rows

    make_once = rows.make_once

    def watched_make_once(make: Callable[[], Any]) -> Any:
        where = place()
        filled[where] += 1
        return None if where == switched_off else make_once(make)

    rows.make_once = watched_make_once
    return filled


def do(work: str, coco: Path, images: int, switched_off: str) -> None:
    """Print the seconds of some work, the digest of its scores, and what was filled how often."""
    filled = watch(switched_off)
    import numpy as np

    from vifidel_eval import Vifidel, evaluate
    from vifidel_eval.scorers import VifidelPRF

    def captions(name: str) -> dict[int, str]:
        found = json.loads((coco / f"captions_val2017_{name}_results.json").read_text())
        return {entry["image_id"]: entry["caption"] for entry in found[:images]}

    human = captions("human")
    references: dict[int, list[str]] = {image_id: [] for image_id in human}
    for entry in json.loads((coco / "captions_val2017_references.json").read_text())["annotations"]:
        if entry["image_id"] in references:
            references[entry["image_id"]].append(entry["caption"])
    instances = json.loads((coco / "instances_val2017.json").read_text())
    names = {entry["id"]: entry["name"] for entry in instances["categories"]}
    objects: dict[int, list[str]] = {image_id: [] for image_id in human}
    for entry in instances["annotations"]:
        if entry["image_id"] in objects:
            objects[entry["image_id"]].append(names[entry["category_id"]])
    scores: list[Any] = []
    start = time.process_time()
    if work == "run":
        systems = {"human": human, "shuffled": captions("shuffled")}
        shared = human.keys() & systems["shuffled"].keys()
        systems = {name: {i: of[i] for i in human if i in shared} for name, of in systems.items()}
        run = evaluate(
            systems,
            references={i: references[i] for i in shared},
            objects={i: objects[i] for i in shared},
            metrics=["default", "VIFIDEL-H", "VIFIDEL-PRF"],
        )
        scores = [
            evaluation.scores
            for of_system in run.detail.evaluations.values()
            for evaluation in of_system.values()
        ]
    else:
        for scorer in (Vifidel(), VifidelPRF()):
            for image_id in list(human)[:200]:
                row = {"objects": [objects[image_id]], "references": [references[image_id]]}
                scores.append(scorer.score([human[image_id]], **row))
    seconds = time.process_time() - start
    digest = hashlib.sha256(b"".join(np.asarray(s).tobytes() for s in scores)).hexdigest()
    print(json.dumps([seconds, digest, filled]))


def measured(work: str, coco: Path, images: int, switched_off: str) -> Any:
    """Return what `do` prints, of a process of its own."""
    done = subprocess.run(
        [
            *(sys.executable, "-W", "ignore", __file__, str(coco), "--images", str(images)),
            *("--work", work, "--without", switched_off),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(PACKAGE)},
        check=False,
    )
    if done.returncode:
        raise click.ClickException(f"{work} without {switched_off}: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


@click.command(help=__doc__)
@click.argument("coco", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--images", default=1000)
@click.option("--repeats", default=3)
@click.option("--least", default=20)
@click.option("--only", default="", help="Places with this word in them.")
@click.option("--work", type=click.Choice(WORKS), hidden=True)
@click.option("--without", default="", hidden=True)
def main(
    coco: Path, images: int, repeats: int, least: int, only: str, work: str | None, without: str
) -> None:
    if work is not None:
        do(work, coco, images, without)
        return
    ratios: dict[str, dict[str, str]] = {}
    for name in WORKS:
        _, digest, filled = measured(name, coco, images, "")
        places = sorted(p for p, times in filled.items() if times >= least and only in p)
        least_of: dict[str, float] = {}
        for _ in range(repeats):
            for off in ("", *places):
                seconds, found, _ = measured(name, coco, images, off)
                least_of[off] = min(seconds, least_of.get(off, seconds))
                if found != digest:
                    raise click.ClickException(f"{name} without {off}: other scores")
        for place in places:
            ratios.setdefault(place, {})[name] = f"{least_of[place] / least_of['']:.2f}"
    rows = [[place, *(of.get(name, "-") for name in WORKS)] for place, of in ratios.items()]
    click.echo(tabulate(sorted(rows), ["without", *WORKS]))


if __name__ == "__main__":
    main()
