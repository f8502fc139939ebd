"""Growth of the time and memory that a call takes with the size of what it is given."""

import gc
import itertools
import time
import tracemalloc

import pytest

SMALL, LARGE = 1000, 16_000
DOUBLINGS = 4
MOST = 2 ** (1.3 * DOUBLINGS)  # 1.3 doublings per doubling
# What is faster, or holds less, at the larger size cannot be told from what a call takes anyway.
SECONDS, BYTES = 0.05, 6 << 20

_CALLS = itertools.count()


def mark():
    """Return a word that no other call has: nothing that is remembered is found again."""
    return f"q{next(_CALLS)}z"


def seconds(make, size):
    """Return the processor time of a call, without the garbage of other tests."""
    call = make(size)
    gc.disable()
    try:
        start = time.process_time()
        call()
        return time.process_time() - start
    finally:
        gc.enable()


def peak(make, size):
    """Return how many bytes a call takes at most at one time."""
    call = make(size)
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def grows_linearly(make, small=SMALL, large=LARGE):
    """Check that ``make(size)()`` takes at most 1.3 doublings of time and memory per doubling.

    `make` is called anew for each measurement, and should use `mark`. The sizes are sixteenfold.
    """
    make(small)()  # what is loaded or computed once
    for attempt in range(5):  # a busy machine may disturb a measurement, and hardly five
        slow = seconds(make, large)
        if slow < SECONDS:
            break
        fast = max(min(seconds(make, small) for _ in range(3)), SECONDS / MOST)
        if slow <= MOST * fast:
            break
        if attempt == 4:
            pytest.fail(f"{small}: {fast:.4f} s, {large}: {slow:.3f} s")
    much = peak(make, large)
    if much > BYTES:
        # Now and then one call replaces a full lexicon, and never two in a row.
        much, little = min(much, peak(make, large)), peak(make, small)
        assert much <= MOST * max(little, BYTES / MOST), (little, much)
