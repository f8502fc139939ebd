"""A made-up report of any size, and a browser to look at it."""

from __future__ import annotations

import math
import random
import shutil
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from vifidel_eval.explain.explained import Explained
from vifidel_eval.explain.explanation import (
    CaptionWord,
    Explanation,
    Match,
    ThingMentioned,
    Verdict,
)
from vifidel_eval.report.html import Content, render_page
from vifidel_eval.runs.comparison import compare
from vifidel_eval.runs.harness import Scores
from vifidel_eval.scorers import Evaluation

#: Captions that would break a page that took them for markup.
EVIL = [
    "<script>document.title = 'broken into'</script>",
    "</script><script>document.title = 'broken into'</script>",
    "<!-- <script> a \u2028 line \u2029 separator \\u003c",
    "<img src=x onerror=\"document.title = 'broken into'\"> & 'quotes' {{ 7 * 7 }}",
]
LABELS = [f"object {number}" for number in range(60)]
WORDS = [f"word{number}" for number in range(3000)]
METRICS = ("VIFIDEL", "WMD", "Bleu_1", "Bleu_4", "Errors", "CIDEr")


def made_up_content(images: int, systems: int, resamples: int = 120) -> Content:
    """Return a report's content in which all numbers are random but belong together."""
    draw = random.Random(0)
    ids = [7 * number + 1 for number in range(images)]
    names = ["careful", "dreaming", "terse", "<b>bold</b>"][:systems]
    objects = {i: Counter(draw.choices(LABELS, k=draw.randint(0, 6))) for i in ids}
    captions = {name: {i: " ".join(draw.choices(WORDS, k=9)) for i in ids} for name in names}
    for i, caption in zip(ids[1:], EVIL, strict=False):
        captions[names[-1]][i] = caption
    explanations = {
        name: {i: _explanation(draw, i, captions[name][i], objects[i]) for i in ids}
        for name in names
    }
    scores = Scores(
        {metric: f"{metric}|made:up" for metric in METRICS},
        {
            name: {
                metric: Evaluation(
                    ids,
                    np.array(
                        [explanations[name][i].score for i in ids]
                        if metric == "VIFIDEL"
                        else [draw.random() ** 2 for _ in ids]
                    ),
                    lower_is_better=metric == "Errors",
                )
                for metric in METRICS
            }
            for name in names
        },
    )
    return Content(
        scores,
        compare(scores, seed=3, resamples=resamples),
        {i: [" ".join(draw.choices(WORDS, k=10)) for _ in range(4)] for i in ids},
        captions,
        objects,
        {name: _parts(list(of_system.values())) for name, of_system in explanations.items()},
    )


def _parts(explanations) -> list[Explained]:
    """Return the columns of explanations in two parts, as a run delivers them in many."""
    half = len(explanations) // 2
    return [Explained.of(explanations[:half]), Explained.of(explanations[half:])]


def _explanation(draw, image_id, caption, objects) -> Explanation:
    words = [word for word in dict.fromkeys(caption.split()) if word.isalnum()][:5]
    matches = [
        Match(label, word, mass, 0.4 * draw.random(), 0.25, 0.5)
        for label, word, mass in _moved(objects, words)
    ]
    distance = math.fsum(m.contribution for m in matches) if matches else math.nan
    score = math.nan if not objects else math.exp(-distance) if words else 0.0
    return Explanation(
        image_id,
        caption,
        score,
        distance,
        bool(objects),
        tuple(matches),
        tuple(
            CaptionWord(word, 0.1, 0.25, "object 1", *_mention(word, bool(objects)))
            for word in words
        ),
        tuple(
            ThingMentioned(word, "object 1", 0.25, "object 1", verdict)
            for word in words
            for mention, _, verdict in [_mention(word, bool(objects))]
            if mention is not None
        ),
        tuple(sorted(objects)[:1]),
        (),
    )


def _moved(objects, words):
    """Yield a plan of as few moves as an exact one has: from north-west to south-east."""
    total = sum(objects.values())
    left = [[label, Fraction(count, total)] for label, count in objects.items()] if words else []
    right = [[word, Fraction(1, len(words))] for word in words]
    while left:
        (label, there), (word, wanted) = left[0], right[0]
        mass = min(there, wanted)
        yield label, word, float(mass)
        for side in (left, right):
            side[0][1] -= mass
            if not side[0][1]:
                side.pop(0)


def _mention(word: str, known: bool):
    """Return mention, class and verdict of a word: not in the image, not judged, or no mention."""
    if word < "word2":
        return word, "object 1", Verdict.ABSENT if known else Verdict.NOT_JUDGED
    return None, None, None


@pytest.fixture(scope="session")
def make_content():
    return made_up_content


@pytest.fixture(scope="session")
def content():
    return made_up_content(images=45, systems=3)


@pytest.fixture(scope="session")
def page(content) -> str:
    return render_page(content)


@pytest.fixture(scope="session")
def large_content():
    return made_up_content(images=5000, systems=4)


@pytest.fixture(scope="session")
def large_page(large_content) -> str:
    return render_page(large_content)


@pytest.fixture(scope="session")
def report(page, tmp_path_factory):
    """The address of the made-up report as a file."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page, "utf-8")
    return path.as_uri()


@pytest.fixture(scope="session")
def browser():
    """Chromium: the system's, or the one that `playwright install chromium` brings."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="needs a browser, and Playwright"
    )
    names = ("chromium", "chromium-browser", "google-chrome")
    system = next(filter(None, map(shutil.which, names)), None)
    with playwright.sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=system)
        except playwright.Error as problem:
            pytest.skip(f"needs a browser: {str(problem).splitlines()[0]}")
        yield browser
        browser.close()


@pytest.fixture
def visit(browser, report):
    """Open the report; at the end no error and no request to anywhere may have happened."""
    contexts, faults = [], []

    def visit(address=report, **settings):
        context = browser.new_context(**settings)
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(5000)
        tab.on("pageerror", lambda error: faults.append(f"error: {error}"))
        tab.on("console", lambda message: faults.append(f"console: {message.text}"))
        tab.on(
            "request",
            lambda r: (
                r.url.startswith(("data:", address.partition("#")[0]))
                or faults.append(f"request: {r.url}")
            ),
        )
        tab.goto(address)
        return tab

    yield visit
    for context in contexts:
        context.close()
    assert not faults
