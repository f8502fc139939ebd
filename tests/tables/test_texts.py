from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vifidel_eval.text.words import END, pieces

pa = pytest.importorskip("pyarrow", reason="PyArrow is not installed")

from vifidel_eval.tables.texts import joined_column  # noqa: E402

KINDS = [pa.string(), pa.large_string()]
ASCII = "".join(map(chr, range(128)))


def cut(column):
    """Return the pieces of each text."""
    found = joined_column(column).decode().split()
    ends = [0, *(at + 1 for at, piece in enumerate(found) if piece == END)]
    assert ends[-1] == len(found)
    return [found[start : end - 1] for start, end in pairwise(ends)]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(
    st.lists(
        st.text(st.sampled_from(ASCII), max_size=12)
        | st.text(st.characters(codec="utf-8"), max_size=12)
        | st.sampled_from(["It isn't", "IT\u2019S", "\u0130stanbul", "\u1e9e", "cafe\u0301 A"])
    )
)
@example([])
@example(["", "A", "\x1c b\x0bC\x85d\u3000E", "\0", f"a{END}b"])
def test_arrow_joins_texts_as_python_does(kind, texts):
    wanted = [pieces([text])[:-1] for text in texts]
    assert cut(pa.array(texts, kind)) == wanted
    padded = pa.array(["It's", *texts, "caf\u00e9"], kind)
    assert cut(padded.slice(1, len(texts))) == wanted
