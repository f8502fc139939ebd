"""The table of layouts: results, references and messages come from it."""

import json

import pytest

from vifidel_eval.captions import read_references, read_results
from vifidel_eval.captions.layouts import LAYOUTS, Layout
from vifidel_eval.errors import CaptionError


def test_a_layout_is_one_record_and_one_line(tmp_path, monkeypatch):
    toy = Layout(
        "toys",
        "`{'toy': ...}`",
        "one",
        "any number",
        ("toy",),
        None,
        lambda content, wanted: {1: ["kite", "ball"][: 1 + wanted.references]},
    )
    layouts = (*LAYOUTS[:-1], toy, LAYOUTS[-1])
    monkeypatch.setattr("vifidel_eval.captions.layouts.LAYOUTS", layouts)
    path = tmp_path / "toys.json"
    path.write_text('{"toy": 7}')
    assert read_results(path) == {1: "kite"}
    assert read_references(path) == {1: ["kite", "ball"]}


@pytest.mark.parametrize(
    ("content", "holds"),
    [
        ({"images": [], "annotations": []}, "a dataset's annotations"),
        ({"images": [{"sentences": []}]}, "a dataset's annotations in splits"),
    ],
)
def test_what_is_refused_as_results_says_what_is_accepted(tmp_path, content, holds):
    path = tmp_path / "results.json"
    path.write_text(json.dumps(content))
    with pytest.raises(CaptionError) as problem:
        read_results(path)
    listed = [known.name for known in LAYOUTS if known.as_results]
    assert str(problem.value) == f"{path}: holds {holds}; accepted as results: {', '.join(listed)}."
    assert '{"image_id": ..., "caption": ...}' in str(problem.value)
