"""The table of layouts: results, references and messages come from it."""

from vifidel_eval.captions import read_references, read_results
from vifidel_eval.captions.layouts import Layout
from vifidel_eval.captions.read import layouts


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
    with_toys = [toy, *layouts()]
    monkeypatch.setattr("vifidel_eval.captions.read.layouts", lambda: with_toys)
    path = tmp_path / "toys.json"
    path.write_text('{"toy": 7}')
    assert read_results(path) == {1: "kite"}
    assert read_references(path) == {1: ["kite", "ball"]}
