"""Metrics that are neural networks: the networks, and the features of images that they read."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self


class MadeAgain:
    """A scorer that pickles, and is copied, as the arguments of its constructor.

    For networks, which are read from files: the constructor runs again where it is unpickled.
    """

    _made_from: partial[Any]

    def __new__(cls, *arguments: Any, **settings: Any) -> Self:
        scorer = super().__new__(cls)
        scorer._made_from = partial(cls, *arguments, **settings)
        return scorer

    def __reduce__(self) -> tuple[Any, ...]:
        return self._made_from, ()
