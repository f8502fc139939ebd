"""Reports under selections of metrics: whatever evidence a run has is on the cards."""

import json
import re
from collections import Counter

import pytest
from conftest import call
from example_files import EXAMPLE
from PIL import Image
from show.pages import data_of

import vifidel_eval
from vifidel_eval import Vifidel, VifidelWarning
from vifidel_eval.kernels.grounding import Verdict
from vifidel_eval.scorers import Chair, VifidelH

_, RESULTS, REFERENCES, OBJECTS = EXAMPLE
INSTANCES = json.loads(OBJECTS.read_text("utf-8"))
CATEGORIES = {category["id"]: category["name"] for category in INSTANCES["categories"]}
SECTIONS = ("Object categories", "Words and objects", "Transport plan")


def read(page):
    """Return the text of a page and its data."""
    text = page.read_text("utf-8")
    body = text[text.index("<body>") : text.index('<script type="application/json"')]
    return body, {name: data_of(text, name) for name in ("data", "plans", "boxes")}


def command(page, *arguments):
    """Return text and data of the page that the command writes."""
    result = call("score", RESULTS, *arguments, "--report", page)
    assert result.exit_code == 0, result.output
    return *read(page), result.stderr


def check_objects(data):
    """Check that the objects of all images are the annotations'."""
    of_images = {}
    for annotation in INSTANCES["annotations"]:
        of_image = of_images.setdefault(str(annotation["image_id"]), Counter())
        of_image[CATEGORIES[annotation["category_id"]]] += 1
    for image_id, objects in zip(data["ids"], data["objects"], strict=True):
        result = {data["labels"][objects[at]]: objects[at + 1] for at in range(0, len(objects), 2)}
        assert result == of_images.get(image_id, {})


@pytest.mark.parametrize(
    "metrics",
    ["VIFIDEL", "VIFIDEL-PRF", "VIFIDEL-H", "CHAIR", "WMD", "CIDEr", "CHAIR,VIFIDEL-H,VIFIDEL-PRF"],
)
def test_objects_are_evidence_under_every_selection(tmp_path, metrics):
    given = ("--references", REFERENCES, "--objects", OBJECTS, "--metrics", metrics)
    (tmp_path / "pictures").mkdir()
    Image.new("RGB", (64, 48), "teal").save(tmp_path / "pictures" / "beach_walk.jpg")
    page = tmp_path / "report.html"
    body, data, _ = command(page, *given, "--images", tmp_path / "pictures")
    check_objects(data["data"])
    assert all(section in body for section in SECTIONS)
    assert "are not marked" not in body
    assert sum(bool(absent(data["plans"], at)) for at in range(len(data["data"]["ids"]))) > 2
    assert data["boxes"]["0"]
    [plans] = data["plans"]["plans"]
    assert sum(bool(plan[3]) for plan in plans) > 20  # transport plans
    scorer = Vifidel(OBJECTS)
    captions = {c["image_id"]: c["caption"] for c in json.loads(RESULTS.read_text("utf-8"))}
    references = {}
    for annotation in json.loads(REFERENCES.read_text("utf-8"))["annotations"]:
        references.setdefault(annotation["image_id"], []).append(annotation["caption"])
    for image_id, plan in zip(data["data"]["ids"], plans, strict=True):
        image = int(image_id)
        shown = scorer.explain(image, captions[image], references[image])
        assert list(plan[2][4::7]) == [mention.verdict for mention in shown.mentions]


@pytest.mark.parametrize("metrics", ["VIFIDEL-PRF", "VIFIDEL-H"])
def test_references_are_evidence_for_those_who_take_them(tmp_path, metrics):
    given = ("--references", REFERENCES, "--metrics", metrics)
    body, data, _ = command(tmp_path / "report.html", *given)
    assert "Words and objects" in body
    assert sum(bool(absent(data["plans"], at)) for at in range(len(data["data"]["ids"]))) > 2
    assert "Object categories" not in body
    assert "Transport plan" not in body
    assert not any(data["data"]["objects"])
    assert "not mentioned" not in body.lower()
    assert data["data"]["labels"] == []
    assert len(data["plans"]["plans"]) == 1


@pytest.mark.parametrize("metrics", ["BLEU", "CIDEr,WMD"])
def test_without_evidence_the_page_says_so(tmp_path, metrics):
    given = ("--references", REFERENCES, "--metrics", metrics)
    body, data, stderr = command(tmp_path / "report.html", *given)
    assert "The words of captions are not marked: no objects were given" in body
    assert "Words and objects" not in body
    assert data["plans"]["plans"] == []
    assert "not explained" not in stderr


def test_objects_that_do_not_fit_take_no_metric_from_those_who_do_not_need_them(tmp_path):
    objects = tmp_path / "objects.json"
    objects.write_text('{"101": ["dog"]}', "utf-8")
    given = ("--references", REFERENCES, "--objects", objects, "--metrics", "CIDEr")
    body, data, stderr = command(tmp_path / "report.html", *given)
    assert "captions are not explained: " in stderr
    assert "lacks 27 image ids" in stderr
    assert "The words of captions are not marked: explaining them failed" in body
    assert str(tmp_path) not in body
    assert data["plans"]["plans"] == []


def objects_of(run, page):
    run.report(page)
    data = read(page)[1]["data"]
    return [[data["labels"][label] for label in objects[::2]] for objects in data["objects"]]


def absent(plans, image):
    """Return the mentions of the first system that are not in an image."""
    mentions = plans["plans"][0][image][2]
    numbers = zip(mentions[::7], mentions[4::7], strict=True)
    return [plans["texts"][text] for text, verdict in numbers if verdict == Verdict.ABSENT]


@pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")
def test_scorers_bring_their_own_evidence(tmp_path):
    captions = {1: "a dog and a cat", 2: "a zebra"}
    shows = {1: ["dog"], 2: ["zebra", "zebra"]}
    page = tmp_path / "report.html"
    for scorer in (Vifidel(shows), VifidelH(shows), Chair(shows)):
        run = vifidel_eval.evaluate({"mine": captions}, metrics=[scorer])
        assert objects_of(run, page) == [["dog"], ["zebra"]]
        _, data = read(page)
        assert absent(data["plans"], 0) == ["cat"]
    # Objects come before references.
    scorers = [VifidelH(), Chair(shows)]
    run = vifidel_eval.evaluate({"mine": captions}, {1: ["a dog"], 2: ["a zoo"]}, metrics=scorers)
    assert objects_of(run, page) == [["dog"], ["zebra"]]


def test_a_caption_too_long_for_the_plan_is_said_beside_the_scores(tmp_path):
    run = vifidel_eval.evaluate({"mine": {1: "a dog"}}, objects={1: ["dog"]}, metrics="CHAIR")
    run.plan.systems[0].captions[1] = " ".join(f"word{number}" for number in range(3000))
    with pytest.warns(VifidelWarning, match="captions are not explained: image 1: the caption has"):
        run.report(tmp_path / "report.html")


@pytest.mark.filterwarnings("ignore::vifidel_eval.VifidelWarning")
def test_samples_are_shown_all_or_the_best_or_the_worst(tmp_path, visit):
    good, bad = "a dog on grass", "a zebra and a bus"
    captions = {
        "mine": {1: [bad, good, "a dog"], 2: [good, bad]},
        "other": {1: [good, good], 2: [bad]},
    }
    objects = {1: {"dog": 1, "zebra": 0, "bus": 0}, 2: {"dog": 1, "zebra": 0, "bus": 0}}
    references = {1: [good, "a dog"], 2: [good, "a dog"]}
    metrics = ["VIFIDEL-H", "VIFIDEL-PRF"]
    run = vifidel_eval.evaluate(captions, references, objects, metrics, samples=True)
    run.report(tmp_path / "report.html", resamples=50)
    body, data = read(tmp_path / "report.html")
    assert data["data"]["owners"] == [0, 0, 0, 1, 1]
    # Two things in one of three captions, and in one of two: the mean of both images is
    # (1/3 + 1/2) / 2, and twice that of things; of the other system (0 + 1) / 2.
    rates = re.findall(
        r'<th scope="row">(\w+)</th><td class="number">(.*?) %</td><td class="number">(.*?)</td>',
        body.partition('id="made-up"')[2],
    )
    assert rates == [("mine", "41.7", "83.3"), ("other", "50.0", "100.0")]
    tab = visit((tmp_path / "report.html").as_uri() + "#images?image=1")

    def shown():
        names, texts = (tab.locator(f"article {part}") for part in ("[data-row] h4", ".caption"))
        return dict(zip(names.all_inner_texts(), texts.all_inner_texts(), strict=True))

    assert shown() == {
        "mine, sample 1 (worst)": bad,
        "mine, sample 2 (best)": good,
        "mine, sample 3": "a dog",
        "other, sample 1 (best and worst)": good,
        "other, sample 2": good,
    }
    made_up = tab.locator("article .loose", has_text="Made up").all_inner_texts()
    assert made_up == ["Made up: zebra (1 of 3), bus (1 of 3)"]
    tab.locator("[name=samples]").select_option("worst")
    tab.wait_for_function("() => document.querySelectorAll('article').length === 2")
    tab.locator("[name=q]").fill("image 1")
    tab.wait_for_function("() => document.querySelectorAll('article').length === 1")
    assert shown() == {"mine, sample 1 (worst)": bad, "other, sample 1 (best and worst)": good}
    assert tab.locator("article .scores.chosen").count() == 2
