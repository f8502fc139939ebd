"""How long captions are: what a score may follow more than what captions say."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from ..errors import VifidelWarning
from .pairing import System

_LONG = 60
_FACTOR = 2


def warn_of_lengths(systems: Iterable[System]) -> None:
    """Warn once if systems' captions differ much in length, or are long.

    Parameters
    ----------
    systems : iterable of System
        The systems of a run.

    Warns
    -----
    VifidelWarning
        If the mean number of words differs by more than a factor of two between systems, or a
        caption has more than 60 words.
    """
    lengths = {
        system.name: [len(caption.split()) for caption in system.captions.values()]
        for system in systems
        if system.captions
    }
    means = {name: sum(of_system) / len(of_system) for name, of_system in lengths.items()}
    said = []
    if means:
        shortest, longest = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
        if means[longest] > _FACTOR * means[shortest]:
            said.append(
                f"captions of system {longest!r} have {means[longest]:.1f} words on average, those "
                f"of {shortest!r} {means[shortest]:.1f}"
            )
    long = {name: sum(n > _LONG for n in of_system) for name, of_system in lengths.items()}
    if any(long.values()):
        listed = ", ".join(
            f"{count} of {len(lengths[name])} captions of system {name!r}"
            for name, count in long.items()
            if count
        )
        said.append(f"{listed} have more than {_LONG} words")
    if said:
        warnings.warn(
            f"{'; '.join(said)}: longer captions say more that can be wrong or unmatched, so read "
            "the scores beside the lengths.",
            VifidelWarning,
            stacklevel=2,
        )
