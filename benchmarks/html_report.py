"""How large a report of 5 000 images and 4 systems is, and how fast it opens and sorts.

    python benchmarks/html_report.py REFERENCES.json INSTANCES.json RESULTS.json ... [--keep FILE]

A system is made up from the first one if there are fewer than four: it keeps every other caption
and takes the rest from the image after next. Times in the browser (Chromium, through Playwright)
are medians of several runs, from the action to the next painted frame; the longest task is the
longest time for which the page could not react to the user in that step.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from tabulate import tabulate

from vifidel_eval.captions import read_references, read_results, system_names
from vifidel_eval.report import html as html_report
from vifidel_eval.runs.comparison import compare
from vifidel_eval.runs.harness import System, score_systems
from vifidel_eval.scorers import Bleu, Cider, RougeL, Vifidel, Wmd
from vifidel_eval.text.tokenization import Tokenization

SYSTEMS, REPEATS = 4, 5

# From a change of the controls to the next painted frame.
TIMED = """async ([name, value]) => {
    const control = document.querySelector(`.controls [name=${name}], .pages [name=${name}]`);
    const tasks = [];
    const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries()));
    observer.observe({ type: "longtask" });
    const start = performance.now();
    if (value === null) control.click();
    else {
        control.value = value;
        control.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((done) => setTimeout(done, name === "text" ? 200 : 0));
    }
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const time = performance.now() - start - (name === "text" ? 200 : 0);
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
    ("sort by the lowest score", "sort", "lowest"),
    ("sort by the disagreement of metrics", "sort", "metrics"),
    ("another metric", "metric", "1"),
    ("scores below 0.3", "below", "0.3"),
    ("search a word", "text", "dog"),
    ("next page", "next", None),
]


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


def build(arguments: argparse.Namespace) -> tuple[str, float]:
    """Return the page and the seconds that gathering and writing it took, scores apart."""
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
    scores = score_systems(systems, scorers, references, allow_subset=True)
    comparisons = compare(scores)
    start = time.perf_counter()
    content = html_report.gather(scores, comparisons, systems, references, scorers.values())
    return html_report.render_page(content), time.perf_counter() - start


def measure(page: Page, address: str) -> list[tuple[str, float, float]]:
    """Return what was done, its milliseconds, and its longest task."""
    times: dict[str, list[tuple[float, float]]] = {}
    for _ in range(REPEATS):
        page.goto(address)
        times.setdefault("open", []).append(page.evaluate(LOADED))
        for what, name, value in STEPS:
            times.setdefault(what, []).append(page.evaluate(TIMED, [name, value]))
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
    page, seconds = build(arguments)
    with tempfile.TemporaryDirectory() as folder:
        path = (arguments.keep or Path(folder) / "report.html").resolve()
        path.write_text(page, "utf-8")
        print(f"{path.stat().st_size / 1e6:.1f} MB, made in {seconds:.1f} s")
        with sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"))
            rows = measure(browser.new_page(), path.as_uri())
            browser.close()
    print(tabulate(rows, ["step", "ms", "longest task, ms"], floatfmt=".0f"))


if __name__ == "__main__":
    main()
