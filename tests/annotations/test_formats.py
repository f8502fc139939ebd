"""The table of formats: the help prints it."""

from vifidel_eval.annotations import Box, ImageBoxes, read_boxes, read_objects
from vifidel_eval.annotations.instances import Format, Variant
from vifidel_eval.annotations.read import formats


def test_a_format_is_one_record_and_one_line(tmp_path, monkeypatch):
    def read_toys(table, found):
        found.add(1, table.text[5:], sides=[0, 0, 1, found.lowest])
        return found.object_labels("toys")

    # Said before the others, so that nothing else recognises it; nothing else is changed.
    toy = Format(
        "toy labels",
        "toys, one line",
        "",
        "",
        (Variant("table", lambda table: table.text.startswith("toys:"), read_toys),),
    )
    formats_before = (toy, *formats())
    monkeypatch.setattr("vifidel_eval.annotations.read.formats", lambda: formats_before)
    path = tmp_path / "toys.txt"
    path.write_text("toys:kite")
    assert read_objects(path).signature().startswith("toys#")
    assert read_objects(path) == {1: {"kite": 1}}
    assert read_boxes(path, 0.5) == {1: ImageBoxes([Box("kite", 0, 0, 1, 0.5)])}
