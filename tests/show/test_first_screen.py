"""The first screen fits every terminal, and one run reads the same in every output."""

import html
import re

import pytest

import vifidel_eval
from vifidel_eval.show.first_screen import first_screen, next_steps
from vifidel_eval.show.layout import TableLayout
from vifidel_eval.show.score_tables import render

WORDS = ["a dog runs", "a cat sleeps on a couch", "a dog and a zebra", "two dogs catch a frisbee"]
IMAGES = range(1, 31)
OBJECTS = {image: {"dog": 1, "frisbee": 1, "zebra": 0, "cat": 0, "couch": 0} for image in IMAGES}
REFERENCES = {image: ["a dog catches a frisbee", "a dog jumps on grass"] for image in IMAGES}


def run_of(systems, people=False):
    captions = {
        f"captions_val2017_model-number-{n}-results": {
            image: WORDS[(image * (n + 3) + image % (n + 2)) % 4] for image in IMAGES
        }
        for n in range(systems)
    }
    return vifidel_eval.evaluate(captions, REFERENCES, OBJECTS, people=people)


@pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")
@pytest.mark.parametrize("width", [80, 100, 160])
@pytest.mark.parametrize("systems", [1, 3, 11])
def test_every_line_fits_and_every_system_has_a_row(systems, width):
    run = run_of(systems)
    lines = first_screen(run.detail, run.intervals(), width).splitlines()
    assert max(map(len, lines)) <= width
    (rule,) = [at for at, line in enumerate(lines) if set(line) == {"-", " "}][:1]
    rows = lines[rule + 1 : lines.index("", rule)]
    assert sum(not set(row) <= {"-", " "} for row in rows) == systems
    assert "baseline" not in " ".join(lines)  # where people are not in the run
    assert ("--compare" in next_steps(systems)) == (systems > 1)
    assert {"VIFIDEL-F", "VIFIDEL-P", "VIFIDEL-R", "CIDEr", "Made"} <= set(lines[rule - 1].split())


def test_things_that_are_made_up_are_counted_per_100_captions():
    # Of 4 captions, 2 make up a zebra and 1 a cat: 75 things per 100 captions.
    captions = {1: "a dog and a zebra", 2: "a dog and a zebra", 3: "a dog and a cat", 4: "a dog"}
    objects = {image: {"dog": 1, "zebra": 0, "cat": 0} for image in captions}
    for metrics in ("VIFIDEL-PRF", "VIFIDEL-PRF,VIFIDEL-H"):
        run = vifidel_eval.evaluate({"x": captions}, objects=objects, metrics=metrics)
        text = first_screen(run.detail, None, 100)
        assert re.search(r"^x .* 75  zebra, cat", text, re.MULTILINE), text
    references = {image: ["a dog runs"] for image in captions}
    run = vifidel_eval.evaluate({"x": captions}, references, metrics="ROUGE_L")
    assert "Made up" not in first_screen(run.detail, None, 100)


def test_of_samples_the_means_and_what_is_made_up_come_first():
    samples = {1: ["a dog and a zebra", "a dog"], 2: ["a zebra", "a dog"]}
    objects = {image: {"dog": 1, "zebra": 0} for image in samples}
    metrics = "VIFIDEL-PRF,VIFIDEL-H"
    run = vifidel_eval.evaluate({"x": samples}, objects=objects, metrics=metrics, samples=True)
    lines = first_screen(run.detail, None, 100).splitlines()
    row = next(line.split() for line in lines if line.startswith("x  "))
    columns = ["System", *(f"VIFIDEL-{of}" for of in ("F mean", "F best", "F worst", "P mean"))]
    columns += ["VIFIDEL-R mean", "Made up ↓"]
    assert re.split("  +", next(line for line in lines if line.startswith("System"))) == columns
    assert row[-1] == "50"  # of 4 captions, 2 make up a zebra
    assert "No room for VIFIDEL-P, VIFIDEL-R, VIFIDEL-Hs" in " ".join(lines)


@pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")
def test_one_run_reads_the_same_in_every_output():
    captions = {
        "bad": dict.fromkeys(IMAGES, WORDS[2]),
        "good": dict.fromkeys(IMAGES, REFERENCES[1][0]),
        "mid": dict.fromkeys(IMAGES, WORDS[0]),
    }
    run = vifidel_eval.evaluate(captions, REFERENCES, OBJECTS, people=True)
    comparisons = run.compare()
    outputs = {
        "screen": first_screen(run.detail, comparisons, 1000),
        "table": render(run.detail, "table", comparisons, TableLayout(width=1000)),
        "markdown": render(run.detail, "markdown", comparisons),
        "latex": render(run.detail, "latex", comparisons),
        "notebook": re.sub("<[^>]+>", " ", html.unescape(run._repr_html_())),
        "prompt": " ".join(repr(run).split()),
    }
    sentence = outputs["screen"].splitlines()[0]
    assert "No room" not in outputs["screen"]
    assert sentence.startswith("mid describes the images best: VIFIDEL-F ")
    for output, text in outputs.items():
        _, message, table = text.partition(sentence)
        assert message, output
        table = table[re.search("System|Metric", table).start() :]  # in LaTeX it is turned
        names = re.findall(r"\b(bad|good|mid|people)\b", table)
        assert list(dict.fromkeys(names)) == ["mid", "good", "bad", "people"], output
        columns = re.findall(r"VIFIDEL-[FPR]|CIDEr", table)
        assert list(dict.fromkeys(columns)) == [f"VIFIDEL-{c}" for c in "FPR"] + ["CIDEr"], output
