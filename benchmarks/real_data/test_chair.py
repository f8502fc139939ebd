"""CHAIR against the published program."""

import json
from collections import defaultdict

import numpy as np
import pytest

from vifidel_eval.kernels.mention_counts import CORPUS, absent, caption_counts, image_categories
from vifidel_eval.words.mentions import MentionFinder
from vifidel_eval.words.synonyms import coco_synonyms, read_classes


@pytest.fixture(scope="module")
def published(oracles):
    return oracles / "chair"


@pytest.mark.parametrize("name", ["human", "shuffled", "long"])
def test_published_numbers(name, coco, published, run, tmp_path):
    path = coco / f"captions_val2017_{name}_results.json"
    if name == "long":
        path = published / "captions_val2017_long_results.json"
    oracle = json.loads((published / "chair.json").read_text("utf-8"))[name]
    output = tmp_path / "scores.json"
    result = run(
        *("score", path, "--metrics", "CHAIR", "--synonyms", published / "synonyms.txt"),
        *("--references", coco / "captions_val2017_references.json"),
        *("--objects", coco / "instances_val2017.json", "--output", output),
    )
    assert result.exit_code == 0
    (document,) = json.loads(output.read_text("utf-8"))["systems"].values()
    for column, score in document["overall"].items():
        if column == "Words":  # stands beside CHAIR where captions are long
            continue
        tolerance = 0.02 if column == "CHAIR-Len" else 0.0005
        assert score == pytest.approx(
            oracle["overall"][column.removeprefix("CHAIR-")], abs=tolerance
        )
    images = document["imgToEval"]
    assert images.keys() == oracle["images"].keys()
    for key in ("hallucinated", "objects"):
        same = [images[i]["CHAIR"][key] == image[key] for i, image in oracle["images"].items()]
        assert np.mean(same) >= 0.998


@pytest.mark.parametrize("change", [lambda text: text, lambda text: text.replace("\n", "\r\n")])
def test_the_published_list_is_recognised(published, write, change):
    text = (published / "synonyms.txt").read_text("utf-8")
    classes = read_classes(write(change(text), "mine.txt"))
    assert classes.published
    assert classes.name == "rohrbach2018"
    assert len(classes.classes) == 80
    assert "cheesecake" not in classes.class_of
    edited = read_classes(write(text + "unicorn\n", "mine.txt"))
    assert not edited.published
    assert edited.class_of["cheesecake"] == "cake"


def test_our_list_is_of_coco_s_80_categories(data):
    categories = json.loads((data / "class_names.json").read_text("utf-8"))["classes"]
    ours = {names[0] for names in coco_synonyms().classes}
    assert ours == {names[0] for names in categories["coco"]}


@pytest.fixture(scope="module")
def val2017(coco, published):
    """The categories of the images, what finds mentions, and the published numbers."""
    content = _json(coco / "instances_val2017.json")
    names = {category["id"]: category["name"] for category in content["categories"]}
    labels = {image["id"]: set() for image in content["images"]}
    for one in content["annotations"]:
        labels[one["image_id"]].add(names[one["category_id"]])
    references = defaultdict(list)
    for one in _json(coco / "captions_val2017_references.json")["annotations"]:
        references[one["image_id"]].append(one["caption"])
    finder = MentionFinder(read_classes(published / "synonyms.txt"))
    there = {i: image_categories(labels[i], references[i], finder) for i in labels}
    return finder, there, _json(published / "chair.json")


@pytest.mark.parametrize("system", ["human", "shuffled", "long"])
def test_the_published_list_gives_the_published_numbers(coco, published, val2017, system):
    finder, there, numbers = val2017
    folder = published if system == "long" else coco
    results = _json(folder / f"captions_val2017_{system}_results.json")
    expected = numbers[system]
    rows, same_words, same_objects = [], 0, 0
    for result in results:
        image_id = result["image_id"]
        mentions = finder.find(result["caption"])
        rows.append(caption_counts(mentions, there[image_id]))
        image = expected["images"][str(image_id)]
        found = [[m.text, m.category] for m in absent(mentions, there[image_id])]
        same_words += found == image["hallucinated"]
        same_objects += sorted(there[image_id]) == image["objects"]
    assert len(results) == 5000
    assert same_objects == 5000
    assert same_words >= 0.998 * len(results)
    sums = np.array(rows).sum(axis=0)
    for column, formula in CORPUS.items():
        within = 0.02 if column == "CHAIR-Len" else 0.0005
        number = expected["overall"][column.removeprefix("CHAIR-")]
        assert float(formula(sums)) == pytest.approx(number, abs=within), column


def _json(path):
    return json.loads(path.read_text("utf-8"))
