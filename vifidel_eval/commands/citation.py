"""Text for papers: how scores were computed, and what to cite."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..errors import VifidelError
from ..evaluation import Evaluation
from ..io.text_tables import one_line
from ..scorers.papers import ROHRBACH_2018, Paper
from ..scorers.registry import parse, parts_of
from ..scores.lengths import WORDS
from ..scores.scores import Scores
from ..scores.scores_file import read_scores

_LISTS = {
    "rohrbach2018": "the synonyms published with CHAIR",
    "coco_synonyms": "the synonyms of vifidel-eval",
}

_PRINTED = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {
        character: f"\\text{name}{{}}"
        for character, name in {
            "\\": "backslash",
            "|": "bar",
            "<": "less",
            ">": "greater",
            "~": "asciitilde",
            "^": "asciicircum",
        }.items()
    }
)
# After these a line of a signature may end.
_BREAKS = re.compile(r"(?<=[|+(,/])")


def citations(path: Path, latex: bool = False) -> Iterator[str]:
    """Yield what to print for a file that ``score --output`` wrote, part by part.

    The paragraph on CHAIR of each system, where CHAIR is among the metrics; a paragraph for an
    appendix on all metrics; the BibTeX of their papers. As LaTeX, all of it is to be included in a
    document: papers are cited by their keys, and their entries, which come first, are written
    beside the document as ``vifidel-eval.bib``. Raises a VifidelError if the file is another one.
    """
    scores, _ = read_scores(path)
    write = _Latex() if latex else _Plain()
    papers = dict.fromkeys(paper for text in scores.signatures.values() for paper in _papers(text))
    if latex and papers:
        yield write.entries(papers)
    try:
        if "CHAIRi" in scores.signatures:
            for name, of_column in scores.evaluations.items():
                yield write.paragraph(f"{write.text(name)}: {_on_chair(of_column, write)}")
    except (KeyError, ValueError):
        raise VifidelError(
            f"{path}: the columns or the signature of CHAIR are incomplete; score again."
        ) from None
    yield write.paragraph(_on_all(scores, write))
    if papers and not latex:
        yield write.entries(papers)


class _Plain:
    """Paragraphs as plain text."""

    def text(self, text: str) -> str:
        return text

    def signature(self, text: str) -> str:
        return text

    def cited(self, papers: Iterable[Paper]) -> str:
        """Return what follows a metric's name."""
        names = "; ".join(paper.cited for paper in papers)
        return f" ({names})" if names else ""

    def paragraph(self, text: str) -> str:
        return text

    def entries(self, papers: Iterable[Paper]) -> str:
        return "\n\n".join(paper.bibtex for paper in papers)


class _Latex(_Plain):
    """Paragraphs of LaTeX."""

    def text(self, text: str) -> str:
        return in_latex(text)

    def signature(self, text: str) -> str:
        # Typewriter type has no hyphenation, and signatures no blanks.
        parts = r"\allowbreak{}".join(in_latex(part) for part in _BREAKS.split(text))
        return rf"\texttt{{{parts}}}"

    def cited(self, papers: Iterable[Paper]) -> str:
        keys = ",".join(paper.key for paper in papers)
        return rf"~\cite{{{keys}}}" if keys else ""

    def paragraph(self, text: str) -> str:
        return f"\\begin{{sloppypar}}\n{text}\n\\end{{sloppypar}}"

    def entries(self, papers: Iterable[Paper]) -> str:
        return (
            "% At the end of the document: \\bibliographystyle{plain} "
            "\\bibliography{vifidel-eval}\n"
            "\\begin{filecontents}[overwrite]{vifidel-eval.bib}\n"
            f"{super().entries(papers)}\n\\end{{filecontents}}"
        )


def _papers(signature: str) -> list[Paper]:
    """Return the papers of a metric, or of the parts of a combination."""
    try:
        (name,) = parse(signature.partition("|")[0])
    except (VifidelError, ValueError):
        return []  # a scorer of somebody else
    return list(dict.fromkeys(paper for part in parts_of(name) for paper in part.papers))


def _on_all(scores: Scores, write: _Plain) -> str:
    signatures = [text for name, text in scores.signatures.items() if name != WORDS]
    signatures = list(dict.fromkeys(signatures))
    versions = {part for text in signatures for part in text.replace(")", "|").split("|")}
    versions = {part.partition(":")[2] for part in versions if part.startswith("version:")}
    metrics = [
        write.text(text.partition("|")[0]) + write.cited(_papers(text)) for text in signatures
    ]
    *most, last = metrics
    listed = f"{', '.join(most)} and {last}" if most else last
    images = {len(next(iter(e.values())).ids) for e in scores.evaluations.values()}
    fewest, largest = min(images), max(images)
    number = f"{largest}" if fewest == largest else f"{fewest} to {largest}"
    return (
        f"We report {listed} of {number} image{'s' * (largest != 1)} as computed by vifidel-eval "
        f"{write.text(' and '.join(sorted(versions)))}".rstrip()
        + f". Signature{'s' * (len(signatures) > 1)}: "
        + f"{'; '.join(map(write.signature, signatures))}."
    )


def _on_chair(of_column: dict[str, Evaluation], write: _Plain) -> str:
    main = of_column["CHAIRi"]
    settings = dict(part.split(":", 1) for part in main.signature.split("|")[1:])
    names = {"s": "CHAIRs", "i": "CHAIRi"}
    names |= {name: f"CHAIR-{name}" for name in ("Recall", "Precision", "F1", "Len")}
    values = {short: of_column[name].score for short, name in names.items()}
    shown = {name: "-" if math.isnan(value) else f"{value:.4f}" for name, value in values.items()}
    synonyms, _, digest = settings["synonyms"].partition("#")
    instances, *references = settings["objects"].split("+references")
    objects = f"the categories of its instances ({instances})"
    if references:
        objects += " and those that its reference captions mention by the same rules"
        objects += f" (digest {references[0].removeprefix('#')})"
    images, _, of_images = settings.get("images", "").partition("#")
    which = f"The {images} images have the digest {of_images}. " if images else ""
    if settings["drop-incomplete"] == "yes":
        incomplete = main.counts.get("incomplete", 0)
        ends = f"An incomplete last sentence was left out of {incomplete} captions."
    else:
        ends = "Captions were evaluated as generated."
    return (
        f"We report CHAIR{write.cited([ROHRBACH_2018])} as computed by vifidel-eval "
        f"{write.text(settings['version'])}: CHAIRs {shown['s']}, CHAIRi {shown['i']}, Recall "
        f"{shown['Recall']}, Precision {shown['Precision']}, F1 {shown['F1']}, with captions of "
        f"{shown['Len']} tokens on average. Captions were split into sentences and Penn Treebank "
        f"tokens and made singular with TextBlob {settings['textblob']}; categories were found "
        f"with {write.text(_LISTS.get(synonyms, f'the list {synonyms}'))} (digest {digest}). An "
        f"image's objects are {write.text(objects)}. {which}{ends} Signature: "
        f"{write.signature(main.signature)}."
    )


def in_latex(text: str) -> str:
    r"""Return text that LaTeX prints as it is, on one line.

    >>> in_latex("a_b & 50 %|c")
    'a\\_b \\& 50 \\%\\textbar{}c'
    """
    return one_line(text).translate(_PRINTED).replace("--", "-{}-")
