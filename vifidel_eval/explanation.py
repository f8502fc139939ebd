"""Who was matched with what, at what cost: a transport plan a person can read."""

from __future__ import annotations

from dataclasses import dataclass

from .image_ids import ImageId


@dataclass(frozen=True)
class Match:
    """Mass that moves from an object label to a caption word.

    Attributes
    ----------
    label, word : str
        The two ends.
    mass : float
        Share of the whole mass that moves between them, in (0, 1].
    cost : float
        Travel cost of a unit of mass (Eq. 1 or 5), not negative.
    label_penalty, word_penalty : float
        Reference penalties (Eq. 4) in [0, 1], small for what the references mention; 1 without
        references.
    """

    label: str
    word: str
    mass: float
    cost: float
    label_penalty: float
    word_penalty: float

    @property
    def contribution(self) -> float:
        """What the match adds to the distance: mass times cost."""
        return self.mass * self.cost


@dataclass(frozen=True)
class Explanation:
    """Why a caption got its score; ``print(explanation)`` shows it as a table.

    Attributes
    ----------
    image_id : hashable
        The image.
    caption : str
        The caption as given.
    score : float
        exp(-distance); 0 for a caption without a usable word, NaN for an image without objects.
    distance : float
        The sum of the contributions of `matches`; NaN if either bag is empty.
    matches : tuple of Match
        The transport plan, the largest contribution first.
    unknown_words : tuple of str
        Words and labels left out because they have no vector.
    """

    image_id: ImageId
    caption: str
    score: float
    distance: float
    matches: tuple[Match, ...]
    unknown_words: tuple[str, ...]

    def __str__(self) -> str:
        from tabulate import tabulate

        lines = [f"image {self.image_id}: {self.caption}"]
        table = tabulate(
            [
                (m.label, m.word, m.mass, m.label_penalty, m.word_penalty, m.cost, m.contribution)
                for m in self.matches
            ],
            headers=("label", "word", "mass", "label rho", "word rho", "cost", "mass x cost"),
            floatfmt=".4f",
        )
        if self.matches:
            lines.append(table)
        elif self.score == 0:
            lines.append("the caption has no usable word")
        else:
            lines.append("the image has no usable object label")
        if self.unknown_words:
            lines.append(f"without a vector: {', '.join(self.unknown_words)}")
        lines.append(f"distance {self.distance:.4f}, score {self.score:.4f}")
        return "\n".join(lines)
