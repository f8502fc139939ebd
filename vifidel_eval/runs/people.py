"""People beside systems: what references get when they are scored as captions are.

It is a change of what goes into a run. Of each image, some references are left out and stand as the
caption of one further system, *people*; all systems are then scored against the references that
remain, so that people and systems have the same number of them.

Where systems write short captions, people have one reference; where they write long, as many joined
as come nearest to the systems' median length. Which ones is fixed by the references themselves:
they are taken in the order of the SHA-256 digests of their texts, not in that of the file, in which
the first may be the longest. So an image's choice depends on no other image.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from statistics import median
from typing import Any

from ..digits import rounded
from ..errors import CaptionError
from ..image_ids import ImageId, match
from .pairing import System

#: What people are called among the systems.
PEOPLE = "people"

_ENDS = (".", "!", "?")


@dataclass(frozen=True)
class People:
    """How people's captions were made, and what they get where they are no system of the run.

    Attributes
    ----------
    joined : int
        How many references of an image are its caption; fewer where it has no more.
    words : float
        Mean words of these captions.
    images : int
        How many images have such a caption.
    too_few : int
        How many images have fewer than two references with a word, and so none.
    rates : dict
        Column to people's rate of inventions, where they are no system of the run: the floor of
        the systems' rates.
    """

    joined: int
    words: float
    images: int
    too_few: int = 0
    rates: Mapping[str, float] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """What pins in signatures that references were left out of those of the systems."""
        return f"{PEOPLE}:{self.joined}-left-out"

    def notes(self, columns: Container[str]) -> list[str]:
        """Return what a table with these columns says of people, in sentences."""
        made = "one reference" if self.joined == 1 else f"{self.joined} references joined"
        made = f"{made} of each image ({self.words:.1f} words on average)"
        if self.rates:
            rates = [f"{name} {r:.4f}" for name, r in self.rates.items() if name in columns]
            floor = f"People: {', '.join(rates)} for {made}, judged without these references."
            return [floor] if rates else []
        said = [f"{PEOPLE}: {made}; every system is scored against the other references."]
        if self.too_few:
            said.append(
                f"{self.too_few} of {self.images + self.too_few} images have fewer than two "
                f"references and are left out, as {PEOPLE} need two."
            )
        return said

    def to_json(self) -> dict[str, Any]:
        """Return what files hold: the attributes by name."""
        rates = {name: rounded(rate) for name, rate in self.rates.items()}
        return {**asdict(self), "words": rounded(self.words), "rates": rates}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> People:
        """Return what `to_json` gave.

        Raises
        ------
        KeyError, TypeError, ValueError
            If it is damaged.
        """
        numbers = [content[name] for name in ("joined", "images", "too_few")]
        if not all(type(number) is int and number >= 0 for number in numbers):
            raise ValueError(f"people are {content!r:.60}")
        joined, images, too_few = numbers
        rates = {str(name): float(rate) for name, rate in content["rates"].items()}
        return cls(joined, float(content["words"]), images, too_few, rates)


def people_of(
    systems: Sequence[System], references: Mapping[ImageId, list[str]]
) -> tuple[People, System, dict[ImageId, list[str]]]:
    """Return how people's captions are made, these captions, and the references that remain.

    Parameters
    ----------
    systems : sequence of System
        Their median length says how many references are joined.
    references : mapping
        Image id to references.

    Raises
    ------
    CaptionError
        If no image has two references with a word.
    """
    order = {i: _in_order(of_image) for i, of_image in references.items()}
    order = {i: of_image for i, of_image in order.items() if len(of_image) > 1}
    if not order:
        raise CaptionError(
            f"{PEOPLE} need two references of an image, one that stands as their caption and one "
            "to score it against, and no image has two: give more references."
        )
    wanted = median(_words(c for system in systems for c in system.captions.values()) or [0])
    most = max(map(len, order.values())) - 1
    lengths = {
        joined: median(sum(_words(_left_out(of_image, joined))) for of_image in order.values())
        for joined in range(1, most + 1)
    }
    joined = min(lengths, key=lambda number: abs(lengths[number] - wanted))
    captions, remaining = {}, {}
    for image_id, of_image in order.items():
        left_out = _left_out(of_image, joined)
        captions[image_id] = _as_text(left_out)
        remaining[image_id] = list(references[image_id])
        for text in left_out:
            remaining[image_id].remove(text)
    words = _words(captions.values())
    people = People(joined, sum(words) / len(words), len(words), len(references) - len(words))
    return people, System(PEOPLE, captions), remaining


def with_people(
    systems: Sequence[System], references: Mapping[ImageId, list[str]]
) -> tuple[People, list[System], dict[ImageId, list[str]]]:
    """Return a run with people among its systems.

    Parameters
    ----------
    systems : sequence of System
        The systems of the run; their captions of images without two references are left out.
    references : mapping
        Image id to references.

    Returns
    -------
    people : People
        How their captions were made.
    systems : list of System
        People last.
    references : dict
        Those that remain, of the images that take part.

    Raises
    ------
    CaptionError
        If a system is called as people are, or no image has two references with a word.
    """
    if any(system.name == PEOPLE for system in systems):
        raise CaptionError(
            f"a system is called {PEOPLE!r}, as the references are among the systems; give it "
            "another name."
        )
    people, row, remaining = people_of(systems, references)
    return people, [*(_of(remaining, system, references) for system in systems), row], remaining


def _of(
    images: Collection[ImageId], system: System, references: Mapping[ImageId, list[str]]
) -> System:
    """Return a system without its captions of images that do not take part."""
    same = match(system.captions, references)
    return replace(
        system,
        captions={
            image_id: caption
            for image_id, caption in system.captions.items()
            if image_id not in same or same[image_id] in images
        },
    )


def _words(texts: Iterable[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def _in_order(references: Sequence[str]) -> list[str]:
    """Return the references that have a word, in the order in which they are left out."""
    return sorted(
        (text for text in references if text.split()),
        key=lambda text: (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), text),
    )


def _left_out(order: Sequence[str], joined: int) -> Sequence[str]:
    """Return the first references, of which one always remains."""
    return order[: min(joined, len(order) - 1)]


def _as_text(references: Sequence[str]) -> str:
    """Return references as one text, each a sentence; one alone stays as it is."""
    if len(references) == 1:
        return references[0]
    texts = (text.strip() for text in references)
    return " ".join(text if text.endswith(_ENDS) else f"{text}." for text in texts)
