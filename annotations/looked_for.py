"""Labels that a source of objects looked for, as users declare them for one that does not say."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from ..errors import AnnotationError
from ..files import read_text
from .categories import COCO_CATEGORIES
from .objects import clean_label

#: COCO's 80 and PASCAL VOC's 20 categories, which are annotated in every image of theirs.
CLOSED_SETS = {
    "coco": frozenset(COCO_CATEGORIES.values()),
    "voc": frozenset(
        "aeroplane bicycle bird boat bottle bus car cat chair cow dog horse motorbike person sheep "
        "sofa train".split()
    ).union(("dining table", "potted plant", "tv monitor")),
}

#: What declares that whatever is not listed is not there.
EVERYTHING = "all"


@dataclass(frozen=True)
class LookedFor:
    """What was looked for in every image.

    Attributes
    ----------
    name : str
        ``"coco"``, ``"voc"``, ``"all"``, or that of a file.
    labels : frozenset of str or None
        As `clean_label` returns them; None for everything.
    """

    name: str
    labels: frozenset[str] | None

    def signature(self) -> str:
        """Return the name, and a digest of labels that the name does not pin."""
        if self.name in CLOSED_SETS or self.labels is None:
            return self.name
        lines = "\n".join(sorted(self.labels))
        return f"{self.name}#{hashlib.sha256(lines.encode()).hexdigest()[:8]}"


#: What users declare with: a name, a file, labels, or what was read.
Declared: TypeAlias = str | os.PathLike[str] | Collection[str] | LookedFor | None


def read_looked_for(source: Declared) -> LookedFor | None:
    """Return what a user says was looked for in every image; None for None.

    Parameters
    ----------
    source : str, path, or collection of str, optional
        ``"coco"`` or ``"voc"`` for their categories; ``"all"``: whatever is not listed is not
        there; a text file with one label per line; or labels.

    Raises
    ------
    AnnotationError
        If the file cannot be read, or there is no label.
    """
    if source is None or isinstance(source, LookedFor):
        return source
    if isinstance(source, str) and source in CLOSED_SETS:
        return LookedFor(source, CLOSED_SETS[source])
    if source == EVERYTHING:
        return LookedFor(EVERYTHING, None)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if isinstance(source, str) and not path.exists():
            raise AnnotationError(
                f"looked for: {source!r:.60} is neither coco, voc nor all, and there is no such "
                "file; a file lists one label per line."
            )
        name, given = path.stem, read_text(path, AnnotationError).splitlines()
    else:
        name, given = "labels", list(source)
        wrong = next((label for label in given if not isinstance(label, str)), None)
        if wrong is not None:
            raise AnnotationError(f"looked for: {wrong!r:.40} is not a label; give text.")
    labels = frozenset(clean_label(label) for label in given if label.strip())
    if not labels:
        raise AnnotationError(f"looked for: there is no label in {source!r:.60}; list some.")
    return LookedFor(name, labels)
