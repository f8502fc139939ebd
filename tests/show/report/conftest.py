"""A made-up report of any size, and a browser to look at it."""

from __future__ import annotations

import random
import shutil
from collections import Counter

import numpy as np
import pytest
from gensim.models import KeyedVectors

from vifidel_eval.captions.rows import make_rows
from vifidel_eval.explain.explanation import Explanation
from vifidel_eval.scorers import Evaluation, Vifidel, VifidelH
from vifidel_eval.scores.comparison import compare
from vifidel_eval.scores.scores import Scores
from vifidel_eval.show.report import Content, render_page
from vifidel_eval.words.synonyms import ClassList

#: Captions that would break a page that took them for markup.
EVIL = [
    "<script>document.title = 'broken into'</script>",
    "</script><script>document.title = 'broken into'</script>",
    "<!-- <script> a \u2028 line \u2029 separator \\u003c",
    "<img src=x onerror=\"document.title = 'broken into'\"> & 'quotes' {{ 7 * 7 }}",
]
LABELS = [f"object {number}" for number in range(60)]
WORDS = [f"word{number}" for number in range(3000)]
#: Words and labels in directions that chance has given them; some of them are things.
VECTORS = KeyedVectors(vector_size=32)
VECTORS.add_vectors(
    [*(label.replace(" ", "_") for label in LABELS), *WORDS],
    np.random.default_rng(0).normal(size=(len(LABELS) + len(WORDS), 32)).astype(np.float32),
)
#: As many as in English.
STOP_WORDS = {word for number, word in enumerate(WORDS) if number % 9 < 4}
THINGS = ClassList("made-up", tuple((name,) for name in (*LABELS, *WORDS[:1000])))
METRICS = ("VIFIDEL", "WMD", "Bleu_1", "Bleu_4", "Errors", "CIDEr")


def made_up_content(images: int, systems: int, resamples: int = 120) -> Content:
    """Return a report's content in which all numbers are random but belong together."""
    draw = random.Random(1)
    ids = [7 * number + 1 for number in range(images)]
    names = ["careful", "dreaming", "terse", "<b>bold</b>"][:systems]
    objects = {i: Counter(draw.choices(LABELS, k=draw.randint(0, 6))) for i in ids}
    captions = {name: {i: " ".join(draw.choices(WORDS, k=9)) for i in ids} for name in names}
    for i, caption in zip(ids[1:], EVIL, strict=False):
        captions[names[-1]][i] = caption
    references = {i: [" ".join(draw.choices(WORDS, k=10)) for _ in range(4)] for i in ids}
    explanations = {name: explained(captions[name], objects, references) for name in names}
    scores = Scores(
        {metric: f"{metric}|made:up" for metric in METRICS},
        {
            name: {
                metric: Evaluation(
                    ids,
                    np.array([one.score for one in explanations[name]])
                    if metric == "VIFIDEL"
                    else np.array([draw.random() ** 2 for _ in ids]),
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
        references,
        captions,
        objects,
        explanations,
        claims={name: list(of_images.values()) for name, of_images in captions.items()},
    )


def explained(captions, objects, references) -> list[Explanation]:
    """Return the explanations of a system in two parts, as a run delivers them in many.

    Nothing is known of images without objects; but without any objects the references are evidence.
    """
    ids = list(captions)
    known = [references[i] if objects[i] or not any(objects.values()) else [] for i in ids]
    rows = make_rows(list(captions.values()), ids, known)
    settings = {"vectors": VECTORS, "stop_words": STOP_WORDS, "only_things": THINGS}
    labels = {i: list(objects[i].elements()) for i in ids}
    scorer = Vifidel(labels, **settings) if any(labels.values()) else VifidelH(**settings)
    half = len(ids) // 2
    halves = [rows.part(0, half), rows.part(half, len(ids))]
    return [one for some in halves for (part,) in scorer.explained([some]) for one in part]


@pytest.fixture(scope="session")
def make_content():
    return made_up_content


@pytest.fixture(scope="session")
def make_explained():
    return explained


@pytest.fixture(scope="session")
def content():
    return made_up_content(images=45, systems=3)


@pytest.fixture(scope="session")
def page(content) -> str:
    return render_page(content)


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


@pytest.fixture
def follow():
    """Click a link within a page, which reads its new address a moment later."""

    def follow(link):
        changes = link.evaluate("(link) => link.href !== location.href")
        if changes:
            link.evaluate(
                """() => {
                    window.followed = new Promise((done, fail) => {
                        addEventListener("hashchange", () => setTimeout(done), { once: true });
                        setTimeout(fail, 10000, "The link did not change the address.");
                    });
                }"""
            )
        link.click()
        if changes:
            link.page.evaluate("followed.then(() => {})")

    return follow
