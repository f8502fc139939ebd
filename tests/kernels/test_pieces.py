import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vifidel_eval.kernels import slots
from vifidel_eval.kernels.pieces import PieceNumbers, cut
from vifidel_eval.text.words import joined

ASCII = "".join(map(chr, range(128)))
TEXTS = st.lists(
    st.text(st.sampled_from(ASCII), max_size=40) | st.text(max_size=40) | st.just("a" * 17)
)


def encoded(captions):
    return joined(captions).encode("utf-8", "surrogatepass")


@given(TEXTS)
@example(["", "\ud800 x", "\x1ca\x85b\u3000c\x0bd", "\u0130" * 9])
def test_bytes_are_cut_as_python_splits_text(captions):
    read = cut(encoded(captions))
    assert read.pieces(np.arange(len(read.starts))) == joined(captions).split()


@given(st.lists(st.text(st.sampled_from("ab\u00e9"), min_size=1, max_size=18), min_size=1))
def test_pieces_have_one_key_each_up_to_sixteen_bytes(pieces):
    keys = list(map(tuple, cut(" ".join(pieces).encode()).keys.T.tolist()))
    for piece, key in zip(pieces, keys, strict=True):
        for other, of_other in zip(pieces, keys, strict=True):
            long = len(piece.encode()) > 16 and len(other.encode()) > 16
            assert (key == of_other) == (piece == other or long)


@given(
    st.lists(
        st.text(st.sampled_from("abcdefgh"), min_size=1, max_size=18), unique=True, max_size=60
    ),
    st.integers(0, 20),
)
@pytest.mark.parametrize("crowded", [False, True])
def test_numbers_found_are_those_that_were_given(crowded, pieces, known):
    numbers = PieceNumbers(64)
    with pytest.MonkeyPatch.context() as patch:
        if crowded:  # all pieces want the same four slots
            patch.setattr(slots, "_MULTIPLIER", np.uint64(0))
        keys = cut(" ".join(pieces).encode()).keys
        given_numbers = np.arange(1, len(pieces) + 1)
        for some in (slice(known // 2), slice(known // 2, known)):
            numbers.add(keys[:, some], given_numbers[some])
        found, missing = numbers.find(keys)
    there = np.setdiff1d(np.arange(len(pieces)), missing)
    np.testing.assert_array_equal(found[there], given_numbers[there])
    short = [i for i, piece in enumerate(pieces[:known]) if len(piece) <= 16]
    assert set(there) <= set(short)
    assert len(there) == (min(4, len(short)) if crowded else len(short))
