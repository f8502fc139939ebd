"""The pieces of a long text and their numbers, found all at once by their bytes.

Cutting a text into strings and looking each up in a dictionary takes several times as long as the
rest of reading a caption. Here a text stays the bytes that it is: where its pieces begin and end
is one comparison of all of them, and a piece is known by two integers, which are its bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..evaluation import Integers
from .slots import MIXER, WAYS, Keys, claim, slots_of

_BLANK = np.zeros(256, dtype=bool)
_BLANK[[*b"\t\n\v\f\r\x1c\x1d\x1e\x1f "]] = True  # what `str.split` takes for blanks in ASCII

# A key is the first sixteen bytes of a piece, zeros after its end. Longer ones have no key of
# their own: theirs is none that sixteen bytes of UTF-8 can spell.
_LONGEST = 16
_FIRST = np.array([(1 << 8 * min(n, 8)) - 1 for n in range(_LONGEST + 2)], dtype=np.uint64)
_SECOND = np.array([(1 << 8 * max(n - 8, 0)) - 1 for n in range(_LONGEST + 1)] + [0], np.uint64)
_NO_KEY = np.uint64(0xFFFFFFFFFFFFFFFF)


@dataclass(frozen=True, eq=False)
class Cut:
    """A text in UTF-8, cut at its blanks.

    Attributes
    ----------
    text : bytes
        The text.
    starts, ends : (number of pieces,) int64
        Piece i is ``text[starts[i]:ends[i]]``.
    keys : (2, number of pieces) uint64
        The bytes of each piece.
    """

    text: bytes
    starts: Integers
    ends: Integers
    keys: Keys

    def pieces(self, at: Integers) -> list[str]:
        """Return some of the pieces."""
        text, ends = self.text, self.ends[at].tolist()
        return [
            text[start:end].decode("utf-8", "surrogatepass")
            for start, end in zip(self.starts[at].tolist(), ends, strict=True)
        ]


def cut(text: bytes) -> Cut:
    """Return a text cut at its blanks, which are ASCII."""
    padded = np.frombuffer(b"%b%b" % (text, b" " * _LONGEST), dtype=np.uint8)
    inside = ~_BLANK[padded[: len(text) + 1]]
    edges = np.flatnonzero(np.diff(inside, prepend=False))
    starts, ends = edges[::2], edges[1::2]
    sizes = np.minimum(ends - starts, _LONGEST + 1)
    # Eight bytes from any place on, as one integer.
    eight = np.ndarray((len(padded) - 7,), "<u8", padded.data, 0, (1,))
    keys = np.zeros((2, len(starts)), dtype=np.uint64)
    np.bitwise_and(eight[starts], _FIRST[sizes], out=keys[0])
    long = np.flatnonzero(sizes > 8)
    keys[1, long] = eight[starts[long] + 8] & _SECOND[sizes[long]]
    keys[:, long[sizes[long] > _LONGEST]] = _NO_KEY
    return Cut(text, starts, ends, keys)


class PieceNumbers:
    """The numbers of pieces, by their keys.

    Threads share it without a lock: a slot holds nothing but a number, whose key was written
    before it and never changes, so that a slot which was overwritten is no more than one that
    does not have the piece.

    Parameters
    ----------
    capacity : int
        How many numbers there are. Number 0 has the key 0.
    """

    def __init__(self, capacity: int) -> None:
        self._keys = np.zeros((2, capacity), dtype=np.uint64)
        self._slots = np.zeros(1 << capacity.bit_length(), dtype=np.int32)

    def find(self, keys: Keys) -> tuple[Integers, Integers]:
        """Return the number of each key, and the places of those that are not found here."""
        slots = self._slots_of(keys)
        numbers = self._slots[slots].astype(np.int64)
        missing = np.flatnonzero(self._differ(numbers, keys))
        for way in WAYS[1:]:
            if not len(missing):
                break
            beside = self._slots[slots[missing] ^ way]
            found = ~self._differ(beside, keys[:, missing])
            numbers[missing[found]] = beside[found]
            missing = missing[~found]
        return numbers, missing

    def _differ(self, numbers: Integers, keys: Keys) -> NDArray[np.bool_]:
        """Return whether the keys of some numbers are others than these."""
        first, second = self._keys
        differ: NDArray[np.bool_] = first[numbers] != keys[0]
        differ |= second[numbers] != keys[1]
        return differ

    def add(self, keys: Keys, numbers: Integers) -> None:
        """Let different keys be found; those that have no key, or no free slot, will not be."""
        short = np.flatnonzero(keys[1] != _NO_KEY)
        keys, numbers = keys[:, short], numbers[short]
        self._keys[:, numbers] = keys
        claim(self._slots, self._slots_of(keys), numbers)

    def _slots_of(self, keys: Keys) -> Keys:
        first, second = keys
        return slots_of(first ^ second * MIXER, len(self._slots))
