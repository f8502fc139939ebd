"""A report of 5 000 images and 4 systems: its size, and how fast it is made, opens and sorts.

    python benchmarks/html_report.py REFERENCES.json INSTANCES.json RESULTS.json ... [--keep FILE]

A system is made up from the first one if there are fewer than four: it keeps every other caption
and takes the rest from the image after next. What follows the scoring (comparison, explanations,
page) is given as a share of it, by processor time. Times in the browser (Chromium, by Playwright)
are medians of several runs, from the action to the next painted frame; the longest task is the
longest time for which the page could not react to the user in that step.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from tabulate import tabulate

from vifidel_eval.captions import read_references, read_results, system_names
from vifidel_eval.scorers import Bleu, Cider, RougeL, Vifidel, Wmd
from vifidel_eval.scores.alignment import System, align
from vifidel_eval.scores.comparison import compare
from vifidel_eval.scores.systems import score_aligned
from vifidel_eval.show import report as html_report
from vifidel_eval.words.tokenization import Tokenization

SYSTEMS, REPEATS = 4, 5

# From a change of the controls to the next painted frame.
TIMED = """async ([name, value]) => {
    const control = document.getElementById("filters").elements[name]
        ?? document.querySelector(`#images [name=${name}]`);
    const tasks = [];
    const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries()));
    observer.observe({ type: "longtask" });
    const start = performance.now();
    if (value === null) control.click();
    else {
        control.value = value;
        control.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((done) => setTimeout(done, name === "q" ? 200 : 0));
    }
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const time = performance.now() - start - (name === "q" ? 200 : 0);
    await new Promise((done) => setTimeout(done, 50));
    observer.disconnect();
    return [time, Math.max(0, ...tasks.map((task) => task.duration))];
}"""
LOADED = """async () => {
    const tasks = [];
    const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries()));
    observer.observe({ type: "longtask", buffered: true });
    await new Promise((done) => setTimeout(done, 100));
    return [performance.getEntriesByType("navigation")[0].loadEventEnd,
            Math.max(0, ...tasks.map((task) => task.duration))];
}"""
STEPS = [
    ("sort by the best score", "sort", "best"),
    ("sort by the disagreement of metrics", "sort", "metrics"),
    ("another metric", "metric", "WMD"),
    ("scores below 0.3", "below", "0.3"),
    ("search a word", "q", "dog"),
    ("next page", "next", None),
    ("search a phrase", "q", '"a dog on"'),
    ("a word not in the image", "captions", "absent"),
    ("leaves out a person", "object", "person"),
]
# The plot of two metrics.
PLOT = """async () => {
    const start = performance.now();
    document.getElementById("agreement").scrollIntoView();
    const drawn = () => document.querySelector(".fits tbody tr");
    while (!drawn()) await new Promise((done) => requestAnimationFrame(done));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    return [performance.now() - start, 0];
}"""


def make_up(system: System) -> System:
    """Return a system half of whose captions belong to other images."""
    ids = list(system.captions)
    shifted = [*ids[2:], *ids[:2]]
    return System(
        "made-up",
        {
            image_id: system.captions[other if place % 2 else image_id]
            for place, (image_id, other) in enumerate(zip(ids, shifted, strict=True))
        },
    )


def build(arguments: argparse.Namespace) -> tuple[str, list[tuple[str, float]]]:
    """Return the page, and the seconds of processor time of each step to it."""
    names = system_names(arguments.results)
    files = zip(names, arguments.results, strict=True)
    systems = [System(name, read_results(path)) for name, path in files]
    if len(systems) < SYSTEMS:
        systems.append(make_up(systems[0]))
    references = read_references(arguments.references)
    tokens = Tokenization()
    scorers = {
        "VIFIDEL": Vifidel(arguments.objects),
        "WMD": Wmd(),
        "BLEU": Bleu(tokens),
        "ROUGE_L": RougeL(tokens),
        "CIDEr": Cider(tokens),
    }
    clock = [time.process_time()]
    scores = score_aligned(align(systems, references), scorers)
    clock.append(time.process_time())
    comparisons = compare(scores)
    clock.append(time.process_time())
    content = html_report.gather(scores, comparisons, align(systems, references), scorers.values())
    clock.append(time.process_time())
    page = html_report.render_page(content)
    clock.append(time.process_time())
    steps = ("scoring", "comparison", "explanations", "page")
    return page, [
        (step, end - start) for step, (start, end) in zip(steps, pairwise(clock), strict=True)
    ]


def measure(page: Page, address: str) -> list[tuple[str, float, float]]:
    """Return what was done, its milliseconds, and its longest task."""
    times: dict[str, list[tuple[float, float]]] = {}
    for _ in range(REPEATS):
        page.goto(address)
        times.setdefault("open", []).append(page.evaluate(LOADED))
        for what, name, value in STEPS:
            times.setdefault(what, []).append(page.evaluate(TIMED, [name, value]))
        times.setdefault("plot", []).append(page.evaluate(PLOT))
    return [
        (what, *(statistics.median(column) for column in zip(*of_step, strict=True)))
        for what, of_step in times.items()
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("references", type=Path)
    parser.add_argument("objects", type=Path)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--keep", type=Path, help="write the report to this file")
    arguments = parser.parse_args()
    page, steps = build(arguments)
    scoring = steps[0][1]
    rows = [(step, seconds, seconds / scoring) for step, seconds in steps]
    rows.append(("after scoring", sum(row[1] for row in rows[1:]), sum(r[2] for r in rows[1:])))
    print(tabulate(rows, ["step", "s of CPU", "share of scoring"], floatfmt=".2f"))
    with tempfile.TemporaryDirectory() as folder:
        path = (arguments.keep or Path(folder) / "report.html").resolve()
        path.write_text(page, "utf-8")
        print(f"{path.stat().st_size / 1e6:.1f} MB")
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"))
            measured = measure(browser.new_page(), path.as_uri())
            browser.close()
    print(tabulate(measured, ["step", "ms", "longest task, ms"], floatfmt=".0f"))


if __name__ == "__main__":
    main()
