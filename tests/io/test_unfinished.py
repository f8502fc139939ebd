"""Records of unfinished runs: what is kept, and what is not ours."""

import pytest

from vifidel_eval.errors import VifidelError
from vifidel_eval.io.outputs import Parts


def test_parts_are_found_again_until_the_run_is_complete(tmp_path):
    parts = Parts(tmp_path / "o")
    assert not (tmp_path / "o.unfinished").exists()
    parts.add("a", [1, None])
    parts.add("b", {"x": 0.1})
    parts.add("a", 2)
    again = Parts(tmp_path / "o")
    assert {key: again[key] for key in again} == {"a": 2, "b": {"x": 0.1}}
    assert "c" not in again
    again.clear()
    assert list(tmp_path.iterdir()) == []
    again.add("c", 3)
    assert list(Parts(tmp_path / "o")) == ["c"]


def test_a_part_may_replace_all_others(tmp_path):
    parts = Parts(tmp_path / "o")
    for number in range(3):
        parts.add(str(number), "x" * 100, alone=number == 2)
    assert list(parts) == list(Parts(tmp_path / "o")) == ["2"]
    assert len((tmp_path / "o.unfinished").read_bytes()) < 200
    parts.add("3", 1)
    assert list(Parts(tmp_path / "o")) == ["2", "3"]


@pytest.mark.parametrize("content", ["precious", "{}\n", '{"key": "a", "content": 1}\n', "\n"])
def test_a_file_of_somebody_else_stays(tmp_path, content):
    (tmp_path / "o.unfinished").write_text(content)
    with pytest.raises(VifidelError, match=r"o\.unfinished: is not an unfinished run"):
        Parts(tmp_path / "o")
    assert (tmp_path / "o.unfinished").read_text() == content


def test_parts_that_cannot_be_read_or_written_are_named(tmp_path):
    (tmp_path / "a.unfinished").write_bytes(b"\xff\xfe")
    with pytest.raises(VifidelError, match=r"a\.unfinished: the unfinished run cannot be read"):
        Parts(tmp_path / "a")
    with pytest.raises(VifidelError, match=r"b\.unfinished: cannot be written: no such file"):
        Parts(tmp_path / "none" / "b").add("key", 1)
