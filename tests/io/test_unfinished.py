"""Records of unfinished runs: what is kept, and what is not ours."""

import pytest

from vifidel_eval.errors import VifidelError
from vifidel_eval.io.outputs import Parts


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
