"""The places in caption files that messages name."""

import json

import pytest

from vifidel_eval.captions import read_results, read_samples
from vifidel_eval.errors import CaptionError


def test_an_image_without_a_sample_is_named(tmp_path):
    path = tmp_path / "samples.json"
    path.write_text(json.dumps({"7": ["a dog", "a cat"], "8": []}))
    with pytest.raises(CaptionError, match="image 8: a list without a caption"):
        read_samples(path)
    path.write_text(json.dumps({"7": ["a dog", "a cat"], "8": ["a bird"]}))
    assert read_samples(path) == {7: ["a dog", "a cat"], 8: ["a bird"]}


SAMPLES = [{"a": {"id": 1}, "b": {"id": 2}, "out": ["a dog", "a cat"]}]


@pytest.mark.parametrize(
    ("names", "image_id"),
    [
        (["a.id"], 1),
        (["a.id", "b.id"], 1),
        (["b.id", "a.id"], 2),
        (["c.id", "b.id"], 2),
        (["c.id", "d.id", "b.id"], 2),
    ],
)
def test_the_first_path_that_leads_somewhere_is_followed(write_lines, names, image_id):
    assert read_results(write_lines(*SAMPLES), names, ["out[0]"]) == {image_id: "a dog"}
