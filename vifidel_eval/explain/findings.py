"""Findings: the most frequent things that the captions of a result file get wrong or leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from ..evaluation import Integers
from ..image_ids import ImageId, to_json_value
from ..kernels.support import rows_of
from ..text_tables import Cell, Table
from ..things.grounded import Verdict
from .explained import Explained
from .explanation import around

#: How tables call the two kinds of findings.
NOT_IN_IMAGE, UNMENTIONED = "not in the image", "unmentioned"

_EXAMPLES = 3
_EXAMPLE_WIDTH = 60
_LEAST_WIDTH = 20
_NOTHING = "Everything mentioned seems to be in the images, and no object is unmentioned."


@dataclass
class Finding:
    """A thing that is not in the images of some captions, or an object they leave unmentioned.

    Attributes
    ----------
    what : str
        The captions' words for the thing, or the object label.
    category : str or None
        The class of the thing; None for an object.
    captions : int
        In how many captions that is so.
    of : int
        How many captions have these words, or describe an image that has the object.
    examples : list of (image id, caption)
        The first few, in the order of the images.
    images : list of image id
        All images of these captions, in their order.
    """

    what: str
    category: str | None = None
    captions: int = 0
    of: int = 0
    examples: list[tuple[ImageId, str]] = field(default_factory=list)
    images: list[ImageId] = field(default_factory=list)

    def to_json(self, captions: int) -> dict[str, Any]:
        """Return the finding as JSON can hold it; its share is of all `captions`."""
        return {
            "what": self.what,
            "class": self.category,
            "captions": self.captions,
            "share": self.captions / captions,
            "of": self.of,
            "examples": [
                {"image_id": to_json_value(image_id), "caption": caption}
                for image_id, caption in self.examples
            ],
            "images": list(map(to_json_value, self.images)),
        }

    def example(self, width: int) -> str:
        """Return part of the first example, with the words if they are a mention's.

        Parameters
        ----------
        width : int
            How many characters it may have.
        """
        return around(self.examples[0][1], self.what if self.category else "", width)


@dataclass(frozen=True)
class Findings:
    """What is not in the images and what went unmentioned in the captions of a system.

    Attributes
    ----------
    captions : int
        Captions of whose image something is known: what all other counts are about.
    undefined : int
        The other captions.
    wordless : int
        Captions without a usable word.
    unknown_words : int
        Words and labels without a vector, each once a caption.
    hallucinating : int
        Captions that mention a thing that is probably not in the image; their share is VIFIDEL-Hs.
    mentions, judged : int
        Mentions of things, every one; and those that could be judged.
    not_in_image : int
        Mentions that are probably not in the image; their share of those judged is VIFIDEL-Hi.
    objects : int
        Objects, each label once an image.
    unmentioned : int
        Those of them that the caption does not speak of.
    hallucinated_words, unmentioned_objects : list of Finding
        The most frequent first, those of equal frequency in alphabetical order.
    """

    captions: int
    undefined: int
    wordless: int
    unknown_words: int
    hallucinating: int
    mentions: int
    judged: int
    not_in_image: int
    objects: int
    unmentioned: int
    hallucinated_words: list[Finding]
    unmentioned_objects: list[Finding]

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        listed = ("hallucinated_words", "unmentioned_objects")
        return {
            name: [finding.to_json(self.captions) for finding in value] if name in listed else value
            for name, value in vars(self).items()
        }


def find(parts: Iterable[Explained]) -> Findings:
    """Return what the explanations of one system's captions have in common; reads them once."""
    words: dict[str, Finding] = {}
    objects: dict[str, Finding] = {}
    uses: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for part in parts:
        known = part.known
        counts["unknown_words"] += sum(map(len, part.unknown_words.values()))
        counts["undefined"] += int((~known).sum())
        counts["captions"] += int(known.sum())
        has_words = np.diff(part.words.starts) > 0
        counts["wordless"] += int((known & ~has_words).sum())

        mentions, rows = part.mentions, rows_of(part.mentions.starts)
        judged = known[rows] & (mentions.verdicts != Verdict.NOT_JUDGED)
        absent = np.flatnonzero(known[rows] & (mentions.verdicts == Verdict.ABSENT))
        counts["mentions"] += int(known[rows].sum())
        counts["judged"] += int(judged.sum())
        counts["not_in_image"] += len(absent)
        counts["hallucinating"] += len(np.unique(rows[absent]))
        for at in absent.tolist():
            what = part.texts[mentions.words[at]]
            if what not in words:
                words[what] = Finding(what, part.texts[mentions.categories[at]])
        for what, in_rows in _by_text(part, rows[known[rows]], mentions.words[known[rows]]):
            uses[what] += len(in_rows)
        for what, in_rows in _by_text(part, rows[absent], mentions.words[absent]):
            _count(words[what], part, in_rows)

        # The plan takes mass from every object; without words there is none.
        silent, rows = part.objects.unmentioned, rows_of(part.objects.starts)
        present = known[rows] & (has_words[rows] | silent)
        for label, in_rows in _by_text(part, rows[present], part.objects.labels[present]):
            objects.setdefault(label, Finding(label)).of += len(in_rows)
        silent = silent & known[rows]
        for label, in_rows in _by_text(part, rows[silent], part.objects.labels[silent]):
            _count(objects[label], part, in_rows)
    for finding in words.values():
        finding.of = uses[finding.what]
    return Findings(
        captions=counts["captions"],
        undefined=counts["undefined"],
        wordless=counts["wordless"],
        unknown_words=counts["unknown_words"],
        hallucinating=counts["hallucinating"],
        mentions=counts["mentions"],
        judged=counts["judged"],
        not_in_image=counts["not_in_image"],
        objects=sum(finding.of for finding in objects.values()),
        unmentioned=sum(finding.captions for finding in objects.values()),
        hallucinated_words=_frequent(words.values()),
        unmentioned_objects=_frequent(objects.values()),
    )


def _by_text(part: Explained, rows: Integers, texts: Integers) -> Iterator[tuple[str, list[int]]]:
    """Yield each text with the captions that have it, each once and in order."""
    size = len(part)
    pairs = np.unique(texts * size + rows)
    texts, rows = np.divmod(pairs, max(size, 1))
    starts = np.flatnonzero(np.diff(texts, prepend=-1))
    listed = rows.tolist()
    for text, (start, end) in zip(
        texts[starts].tolist(), pairwise([*starts.tolist(), len(listed)]), strict=True
    ):
        yield part.texts[text], listed[start:end]


def _count(finding: Finding, part: Explained, rows: Sequence[int]) -> None:
    finding.captions += len(rows)
    lacking = _EXAMPLES - len(finding.examples)
    finding.examples += [(part.ids[row], part.captions[row]) for row in rows[:lacking]]
    finding.images += [part.ids[row] for row in rows]


def _frequent(findings: Iterable[Finding]) -> list[Finding]:
    found = [finding for finding in findings if finding.captions]
    return sorted(found, key=lambda finding: (-finding.captions, finding.what))


def summary_table(of_systems: Mapping[str, Findings]) -> Table:
    """Return a row a system: how often something is not in the image or unmentioned."""
    headers = [
        "System",
        "Captions",
        "With a thing not in the image",
        "Mentions",
        "Judged",
        "Not in the image",
        "Objects",
        "Unmentioned",
        "Undefined",
        "No words",
        "Unknown words",
    ]
    rows: list[list[Cell]] = [
        [
            name,
            f.captions,
            _share(f.hallucinating, f.captions),
            f.mentions,
            f.judged,
            _share(f.not_in_image, f.judged),
            f.objects,
            _share(f.unmentioned, f.objects),
            f.undefined,
            f.wordless,
            f.unknown_words,
        ]
        for name, f in of_systems.items()
    ]
    return Table(headers, rows)


def findings_table(
    of_systems: Mapping[str, Findings], most: int, notes: Sequence[str] = ()
) -> Table:
    """Return the most frequent findings of each system, at most `most` of a kind."""
    headers = ["System", "Finding", "What", "Class", "Images", "Example", "Captions", "Of", "Share"]
    rows: list[list[Cell]] = [
        [
            name,
            kind,
            finding.what,
            finding.category,
            " ".join(str(image_id) for image_id, _ in finding.examples),
            finding.example(_EXAMPLE_WIDTH),
            finding.captions,
            finding.of,
            _share(finding.captions, findings.captions),
        ]
        for name, findings in of_systems.items()
        for kind, found in (
            (NOT_IN_IMAGE, findings.hallucinated_words),
            (UNMENTIONED, findings.unmentioned_objects),
        )
        for finding in found[:most]
    ]
    return Table(headers, rows, [*([] if rows else [_NOTHING]), *notes], texts=6)


def findings_in_width(
    of_systems: Mapping[str, Findings], most: int, width: int
) -> Iterator[tuple[Table, str | None]]:
    """Yield the most frequent findings for a terminal: a table for each system and kind.

    Parameters
    ----------
    of_systems : mapping
        System name to findings.
    most : int
        How many of a kind are shown.
    width : int
        Characters in a line, which examples fill.

    Yields
    ------
    Table
        Words or objects with an image of each.
    str or None
        The colour of its rows.
    """
    nothing = True
    for name, findings in of_systems.items():
        for kind, colour, found in (
            (NOT_IN_IMAGE, "red", findings.hallucinated_words),
            (UNMENTIONED, "yellow", findings.unmentioned_objects),
        ):
            if found:
                nothing = False
                yield _in_width(f"{name}: {kind}", findings.captions, found, most, width), colour
    if nothing:
        yield Table([], [], title=_NOTHING), None


def _in_width(title: str, captions: int, found: Sequence[Finding], most: int, width: int) -> Table:
    shown = found[:most]
    if len(found) > most:
        title += f", {most} of {len(found)}"
    rows: list[list[Cell]] = [
        [_named(one), "", one.captions, one.of, _share(one.captions, captions)] for one in shown
    ]
    headers = ["What", "Image: caption", "Captions", "Of", "Share"]
    without = Table(headers, rows, texts=2).render("table").splitlines()[1]
    room = width - len(without) + len(headers[1])
    for row, one in zip(rows, shown, strict=True):
        image = f"{one.examples[0][0]}: "
        row[1] = image + one.example(max(room - len(image), _LEAST_WIDTH))
    return Table(headers, rows, texts=2, title=title)


def _named(finding: Finding) -> str:
    apart = finding.category not in (None, finding.what)
    return f"{finding.what} ({finding.category})" if apart else finding.what


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"
