"""Metrics for capevalkit: the protocol, and its own `evaluate_metric` on a made benchmark."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from vifidel_eval import CaptionError, VifidelError, VifidelWarning
from vifidel_eval.integrations import CapevalMetric
from vifidel_eval.scorers import Vifidel, VifidelH, VifidelPRF, Wmd

REFERENCES = {
    "beach.jpg": ["a dog catches a frisbee on the beach", "a dog jumps for a disc"],
    "street.jpg": ["a man rides a bicycle", "a cyclist on a road"],
}
JUDGED = [  # the better, the higher the rating
    ("beach.jpg", "a dog catches a frisbee", 4.0),
    ("beach.jpg", "a dog on a beach", 3.0),
    ("beach.jpg", "a zebra in the snow", 1.0),
    ("street.jpg", "a man on a bicycle", 4.0),
    ("street.jpg", "a pizza on a table", 1.0),
]
OBJECTS = {"beach.jpg": ["dog", "frisbee"], "street": ["person", "bicycle"]}


def sample(**fields):
    whole = {"id": "a", "image": "x.jpg", "references": ["a dog"], "prediction": "a dog"} | fields
    return SimpleNamespace(**whole)


SAMPLES = [
    sample(id=f"s{at}", image=f"/data/{image}", references=REFERENCES[image], prediction=text)
    for at, (image, text, _) in enumerate(JUDGED)
]
TEXTS = [text for _, text, _ in JUDGED]
LISTS = [REFERENCES[image] for image, _, _ in JUDGED]


def test_scores_are_those_of_the_rows():
    expected = VifidelPRF().score_columns(TEXTS, references=LISTS)["VIFIDEL-F"]
    assert CapevalMetric()(SAMPLES) == dict(zip("s0 s1 s2 s3 s4".split(), expected, strict=True))
    names = [image for image, _, _ in JUDGED]
    of_objects = VifidelPRF(OBJECTS)
    expected = of_objects.score(TEXTS, image_ids=names, references=LISTS)
    assert list(CapevalMetric(of_objects)(SAMPLES).values()) == expected.tolist()
    expected = Wmd().score(TEXTS, references=LISTS)
    assert list(CapevalMetric("WMD")(SAMPLES).values()) == expected.tolist()


def test_where_lower_is_better_the_score_is_negative():
    shares = VifidelH().score_columns(TEXTS, references=LISTS)["VIFIDEL-Hi"]
    assert list(CapevalMetric("VIFIDEL-Hi")(SAMPLES).values()) == (-shares).tolist()
    assert 1 in shares


def test_undefined_scores_are_numbers():
    nothing = [sample(references=[])]
    for metric, score in ((CapevalMetric(), 0), (CapevalMetric(undefined=-1), -1)):
        message = f"VIFIDEL-F is undefined for 1 of 1 samples; their score is {score}"
        with pytest.warns(VifidelWarning, match=message) as heard:
            assert metric(nothing) == {"a": score}
        assert heard[0].filename == __file__


def test_what_cannot_be_used():
    with pytest.raises(VifidelError, match="undefined must be a finite number, not nan"):
        CapevalMetric(undefined=float("nan"))
    with pytest.raises(CaptionError, match=r"image 'x.jpg': the caption is None, not a string"):
        CapevalMetric()([sample(prediction=None)])


@pytest.mark.parametrize(
    ("samples", "sentence"),
    [
        ([sample(references="a dog")], r"samples\[0\]: references must be a list of strings, not"),
        ([sample(), sample(id="b", image=None)], r"samples\[1\]: image must be a path, not None"),
        ([sample(id=[1])], r"samples\[0\]: id must be a string, not \[1\]"),
        ([sample(), sample(prediction="a cat")], r"samples\[1\]: the id 'a' appears twice"),
        ([{"id": "a"}], r"samples\[0\]: id must be a string, not None"),
        ([SimpleNamespace(id="a", image="x", references=["b"])], "'x': the caption is None"),
        ("a dog", "samples must be a list of samples, not 'a dog'"),
        (None, "samples must be a list of samples, not None"),
    ],
)
def test_samples_of_a_wrong_kind_are_one_sentence(samples, sentence):
    with pytest.raises(VifidelError, match=sentence):
        CapevalMetric()(samples)


@pytest.fixture
def api(tmp_path, monkeypatch):
    monkeypatch.setenv("CAPEVALKIT_HOME", str(tmp_path / "home"))
    return pytest.importorskip("capevalkit.api", reason="needs capevalkit")


@pytest.mark.engine
def test_its_own_benchmark(api, tmp_path, monkeypatch):
    data = {}
    for image, references in REFERENCES.items():
        judged = [{"caption": text, "rating": s} for name, text, s in JUDGED if name == image]
        data[image] = {
            "image_path": image, "ground_truth": references, "human_judgement": judged,
        }  # fmt: skip
    (tmp_path / "flickr8k").mkdir()
    (tmp_path / "flickr8k/crowdflower_flickr8k.json").write_text(json.dumps(data))
    page = (Path(__file__).parents[3] / "docs/training.md").read_text("utf-8")
    block = page.partition("## capevalkit\n")[2].partition("```python\n")[2].partition("```")[0]
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(block, "training.md", "exec"), names)
    output = tmp_path / "out.json"
    asked = {"benchmark": "flickr8k-cf", "data_root": "flickr8k"}
    result = api.evaluate_metric(
        metric=CapevalMetric("VIFIDEL-F"), metric_name="VIFIDEL-F", output=output, **asked
    )
    assert result == names["result"]
    assert (result["num_samples"], result["score_name"]) == (5, "VIFIDEL-F")
    assert result["correlations"]["kendall_tau_c"] > 80
    ids = ["beach_0", "beach_1", "beach_2", "street_0", "street_1"]
    expected = VifidelPRF().score_columns(TEXTS, references=LISTS)["VIFIDEL-F"]
    per_item = json.loads(output.read_text())["raw_metric_output"]["VIFIDEL-F"]["per_item"]
    assert {i: per_item[i]["score"] for i in ids} == dict(zip(ids, expected, strict=True))
    predictions = dict.fromkeys(ids, "a dog")
    metric = CapevalMetric(Vifidel(OBJECTS))
    again = api.evaluate_metric(metric=metric, predictions=predictions, **asked)
    assert again["num_samples"] == 5
