"""What caches save: the part of some work that it would take longer without each of them.

    python benchmarks/caches.py COCO [--work rows] [--images 1000] [--only WORD] [--least 20]

COCO holds ``captions_val2017_{references,human_results,shuffled_results}.json`` and
``instances_val2017.json``. A cache is a place in the code that makes one: `functools.cache`,
`lru_cache`, `cached_property`, `Remembered` and `make_once`. The work is

- *run*: two systems under the default metrics, VIFIDEL-H and VIFIDEL-PRF, by `evaluate`;
- *rows*: 200 captions one by one, by the `score` of VIFIDEL and VIFIDEL-PRF, as rewards call it.

Printed are the places that are asked at least `--least` times: how often the cache had to make the
value, how often it had it, what making it takes, and what all hits together save, in hundredths of
the work. A hit is taken to save what making a value takes on average; that is too much where the
values found again are the cheap ones, and where a value is made from what another cache holds.
What a hit costs, a tenth of a microsecond, is not subtracted. Counts do not depend on the machine.
"""

from __future__ import annotations

import functools
import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from tabulate import tabulate

PACKAGE = Path(__file__).resolve().parents[1]


@dataclass
class Usage:
    """What one cache was asked for: values made and found again, and the seconds of making them."""

    made: int = 0
    found: int = 0
    seconds: float = 0.0

    def make(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a function, and count it and its time."""
        start = time.thread_time()
        try:
            return function(*args, **kwargs)
        finally:
            self.seconds += time.thread_time() - start
            self.made += 1

    def saved(self) -> float:
        """Return the seconds that making the values again would have taken."""
        return self.found * self.seconds / self.made


def watch() -> dict[str, Usage]:
    """Count what each cache that is made from now on is asked for, by the place that makes it."""
    usages: defaultdict[str, Usage] = defaultdict(Usage)
    real_lru_cache, real_cached_property = functools.lru_cache, functools.cached_property

    def place() -> str:
        frame = sys._getframe(2)
        file = Path(frame.f_code.co_filename)
        inside = PACKAGE in file.parents and file != Path(__file__).resolve()
        return f"{file.relative_to(PACKAGE)}:{frame.f_lineno}" if inside else ""

    def counted(where: str, function: Callable[..., Any], maxsize: int | None) -> Any:
        if not where:
            return real_lru_cache(maxsize)(function)
        kept = real_lru_cache(maxsize)(functools.partial(usages[where].make, function))

        @functools.wraps(function)
        def ask(*args: Any, **kwargs: Any) -> Any:
            made = usages[where].made
            value = kept(*args, **kwargs)
            usages[where].found += usages[where].made == made
            return value

        ask.cache_clear = kept.cache_clear  # type: ignore[attr-defined]
        ask.cache_info = kept.cache_info  # type: ignore[attr-defined]
        return ask

    def cache(function: Callable[..., Any]) -> Any:
        return counted(place(), function, None)

    def lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
        where = place()
        if callable(maxsize):
            return counted(where, maxsize, 128)
        return lambda function: counted(where, function, maxsize)

    class CountedProperty(real_cached_property):  # type: ignore[type-arg]
        """A cached property that is asked also where the object has the value."""

        def __init__(self, function: Callable[[Any], Any], where: str) -> None:
            super().__init__(functools.partial(usages[where].make, function))
            self.usage = usages[where]

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            self.usage.found += instance is not None and self.attrname in vars(instance)
            return super().__get__(instance, owner)

        def __set__(self, instance: Any, value: Any) -> None:
            vars(instance)[self.attrname] = value

    def cached_property(function: Callable[[Any], Any]) -> Any:
        where = place()
        return CountedProperty(function, where) if where else real_cached_property(function)

    functools.cache, functools.lru_cache = cache, lru_cache
    functools.cached_property = cached_property  # type: ignore[misc,assignment]

    from vifidel_eval.io import caches

    class Remembered(caches.Remembered[Any, Any]):
        def __init__(self, function: Callable[[Any], Any], times: int = 1) -> None:
            self.usage = usages[place()]
            super().__init__(functools.partial(self.usage.make, function), times)

        def __getitem__(self, key: Any) -> Any:
            self.usage.found += key in self
            return super().__getitem__(key)

    caches.Remembered = Remembered  # type: ignore[misc]
    from vifidel_eval.captions import rows

    def make_once(make: Callable[[], Any], real: Any = rows.make_once) -> Any:
        kept, usage = rows._KEPT.get(), usages[place()]
        if kept is None or make in kept:
            usage.found += kept is not None
            return real(make)
        return usage.make(real, make)

    rows.make_once = make_once  # type: ignore[assignment]
    return usages


def read_coco(coco: Path, images: int) -> tuple[dict[str, Any], dict[int, Any], dict[int, Any]]:
    """Return captions by system, references and object labels of the first images."""

    def captions(name: str) -> dict[int, str]:
        found = json.loads((coco / f"captions_val2017_{name}_results.json").read_text())
        return {entry["image_id"]: entry["caption"] for entry in found[:images]}

    human, shuffled = captions("human"), captions("shuffled")
    shared = [image_id for image_id in human if image_id in shuffled]
    references: dict[int, list[str]] = {image_id: [] for image_id in shared}
    for entry in json.loads((coco / "captions_val2017_references.json").read_text())["annotations"]:
        if entry["image_id"] in references:
            references[entry["image_id"]].append(entry["caption"])
    instances = json.loads((coco / "instances_val2017.json").read_text())
    names = {entry["id"]: entry["name"] for entry in instances["categories"]}
    objects: dict[int, list[str]] = {image_id: [] for image_id in shared}
    for entry in instances["annotations"]:
        if entry["image_id"] in objects:
            objects[entry["image_id"]].append(names[entry["category_id"]])
    systems = {"human": human, "shuffled": shuffled}
    return (
        {name: {i: captions[i] for i in shared} for name, captions in systems.items()},
        references,
        objects,
    )


def score_a_run(systems: dict[str, Any], references: Any, objects: Any) -> None:
    """Score systems under the default metrics and those that read sentences."""
    from vifidel_eval import evaluate

    metrics = ["default", "VIFIDEL-H", "VIFIDEL-PRF"]
    evaluate(systems, references=references, objects=objects, metrics=metrics)


def score_rows(systems: dict[str, Any], references: Any, objects: Any) -> None:
    """Score captions one by one."""
    from vifidel_eval import Vifidel
    from vifidel_eval.scorers import VifidelPRF

    for scorer in (Vifidel(), VifidelPRF()):
        for image_id, caption in list(systems["human"].items())[:200]:
            row = {"objects": [objects[image_id]], "references": [references[image_id]]}
            scorer.score([caption], **row)


WORKS = {"run": score_a_run, "rows": score_rows}


@click.command(help=__doc__)
@click.argument("coco", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--work", type=click.Choice(list(WORKS)), default="run", show_default=True)
@click.option("--images", default=1000)
@click.option("--least", default=20)
@click.option("--only", default="", help="Places with this word in them.")
def main(coco: Path, work: str, images: int, least: int, only: str) -> None:
    usages = watch()
    inputs = read_coco(coco, images)
    start = time.thread_time()
    WORKS[work](*inputs)
    seconds = time.thread_time() - start
    rows = [
        (
            place,
            usage.made,
            usage.found,
            f"{1e6 * usage.seconds / usage.made:.1f}",
            f"{100 * usage.saved() / seconds:.1f}",
        )
        for place, usage in sorted(usages.items())
        if usage.made and usage.made + usage.found >= least and only in place
    ]
    head = [f"{work}: {seconds:.1f} s", "made", "found", "us to make", "saves, % of it"]
    click.echo(tabulate(rows, head))


if __name__ == "__main__":
    main()
