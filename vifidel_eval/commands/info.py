"""What runs here, for bug reports, and text for papers: how scores were computed, what to cite."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import math
import platform
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..doors.entry_points import COMMANDS, declared, not_installed, service
from ..errors import MetricUnavailable, VifidelError
from ..evaluation import Evaluation
from ..io.text_tables import Table, in_a_row, one_line
from ..project import pip_install
from ..scorers.record import ROHRBACH_2018, Metric, Paper
from ..scorers.registry import METRICS, named_failures, parse, parts_of
from ..scores.scores import Scores
from ..scores.scores_file import read_scores
from ..scores.systems import WORDS
from ..words.word_vectors import load_vectors
from .options import flag

_PACKAGES = """
    vifidel-eval numpy POT gensim wordllama tokenizers pycocotools pycocoevalcap torch nltk
""".split()

_LISTS = {
    "rohrbach2018": "the synonyms published with CHAIR",
    "coco_synonyms": "the synonyms of vifidel-eval",
}

_NAMES = ("backslash", "bar", "less", "greater", "asciitilde", "asciicircum")
_PRINTED = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {character: f"\\text{name}{{}}" for character, name in zip("\\|<>~^", _NAMES, strict=True)}
)
# After these a line of a signature may end.
_BREAKS = re.compile(r"(?<=[|+(,/])")


def environment() -> dict[str, str]:
    """Return name and value of everything that a bug report should state."""
    versions = {"Python": f"{platform.python_version()} on {platform.platform()}"}
    for package in _PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    try:
        versions["embedded vectors"] = load_vectors().signature()
    except VifidelError as problem:
        versions["embedded vectors"] = f"not available: {problem}"
    METRICS.load()
    find_java = next((m.check for m in METRICS.values() if m.needs == ("Java",)), None)
    if find_java is not None:
        try:
            versions["Java"] = str(find_java())
        except MetricUnavailable as problem:
            versions["Java"] = f"not found: {problem}"
    try:
        detectors = {f"detect with {name}": state for name, state in service("backends")().items()}
    except VifidelError as problem:
        detectors = {"detect": str(problem)}
    missing = [not_installed(entries[0]) for entries in declared(COMMANDS).values()]
    commands = dict(why.split(" ", 1) for why in missing if why)
    return versions | detectors | commands


def metrics_here(width: int) -> Table:
    """Return a row per metric: whether it works here, and what it needs, in lines that fit."""
    states = {name: (False, f"{why}.") for name, why in METRICS.load().items()}
    for name, metric in METRICS.items():
        works, needs = _state(metric)
        states[name] = works, f"{needs}. {metric.summary}." if needs else f"{metric.summary}."
    texts = textwrap.TextWrapper(max(width - max(map(len, states)) - 11, 20))
    rows: list[list[str]] = []
    for name, (works, text) in states.items():
        first, *others = texts.wrap(text)
        rows += [[name, "yes" if works else "no", first], *(["", "", line] for line in others)]
    return Table(["Metric", "Works", "What it needs, and what it says"], rows, texts=3)


def _state(metric: Metric) -> tuple[bool, str]:
    """Return whether a metric can be computed here, and what it takes."""
    missing = [name for name in metric.packages if importlib.util.find_spec(name) is None]
    if missing:
        return False, pip_install(*missing)
    if metric.check is not None:
        try:
            with named_failures(metric.name, metric.module):
                metric.check()
        except MetricUnavailable as problem:
            return False, str(problem).rstrip(".")
    lower = [column.name for column in metric.columns if column.lower_is_better]
    needs = ["references"] * metric.references + ["objects"] * metric.objects
    needs += ["images"] * metric.images
    needs += [*metric.needs, *(flag(option.name) for option in metric.options if option.required)]
    texts = [f"Needs {', '.join(needs)}"] * bool(needs)
    return True, ". ".join([*texts, *[f"Lower is better in {', '.join(lower)}"] * bool(lower)])


def citations(path: Path, latex: bool = False) -> Iterator[str]:
    """Yield what to print for a file of scores: on CHAIR by system, on all metrics, and BibTeX.

    In LaTeX, papers are cited by their keys, and their entries come first, as a file.
    """
    scores, _ = read_scores(path)
    write = _Writing(latex)
    papers = dict.fromkeys(paper for text in scores.signatures.values() for paper in _papers(text))
    if latex and papers:
        yield write.entries(papers)
    if "CHAIRi" in scores.signatures:
        for name, of_column in scores.evaluations.items():
            try:
                text = _on_chair(of_column, write)
            except (KeyError, ValueError):  # parts of its signature
                raise VifidelError(
                    f"{path}: the signature of CHAIR is damaged; restore the file or score again."
                ) from None
            yield write.paragraph(f"{write.text(name)}: {text}")
    yield write.paragraph(_on_all(scores, write))
    if papers and not latex:
        yield write.entries(papers)


class _Writing:
    """Paragraphs, as plain text or as LaTeX."""

    def __init__(self, latex: bool) -> None:
        self.latex = latex

    def text(self, text: str) -> str:
        return in_latex(text) if self.latex else text

    def signature(self, text: str) -> str:
        if not self.latex:
            return text
        # Typewriter type has no hyphenation, and signatures no blanks.
        parts = r"\allowbreak{}".join(in_latex(part) for part in _BREAKS.split(text))
        return rf"\texttt{{{parts}}}"

    def cited(self, papers: Sequence[Paper]) -> str:
        """Return what follows a metric's name."""
        if not papers:
            return ""
        if self.latex:
            return rf"~\cite{{{','.join(paper.key for paper in papers)}}}"
        return f" ({'; '.join(paper.cited for paper in papers)})"

    def paragraph(self, text: str) -> str:
        return f"\\begin{{sloppypar}}\n{text}\n\\end{{sloppypar}}" if self.latex else text

    def entries(self, papers: Iterable[Paper]) -> str:
        entries = "\n\n".join(paper.bibtex for paper in papers)
        if not self.latex:
            return entries
        return (
            "% At the end of the document: \\bibliographystyle{plain} "
            "\\bibliography{vifidel-eval}\n"
            "\\begin{filecontents}[overwrite]{vifidel-eval.bib}\n"
            f"{entries}\n\\end{{filecontents}}"
        )


def _papers(signature: str) -> list[Paper]:
    """Return the papers of a metric, or of the parts of a combination."""
    try:
        (name,) = parse(signature.partition("|")[0])
    except (VifidelError, ValueError):
        return []  # a scorer of somebody else
    return list(dict.fromkeys(paper for part in parts_of(name) for paper in part.papers))


def _on_all(scores: Scores, write: _Writing) -> str:
    by_column = scores.signatures.items()
    signatures = list(dict.fromkeys(text for name, text in by_column if name != WORDS))
    versions = {part for text in signatures for part in text.replace(")", "|").split("|")}
    versions = {part.partition(":")[2] for part in versions if part.startswith("version:")}
    metrics = [
        write.text(text.partition("|")[0]) + write.cited(_papers(text)) for text in signatures
    ]
    images = {len(next(iter(e.values())).ids) for e in scores.evaluations.values()}
    fewest, largest = min(images), max(images)
    number = f"{largest}" if fewest == largest else f"{fewest} to {largest}"
    return (
        f"We report {in_a_row(metrics)} of {number} image{'s' * (largest != 1)} as computed by "
        f"vifidel-eval {write.text(' and '.join(sorted(versions)))}".rstrip()
        + f". Signature{'s' * (len(signatures) > 1)}: "
        + f"{'; '.join(map(write.signature, signatures))}."
    )


def _on_chair(of_column: dict[str, Evaluation], write: _Writing) -> str:
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
    of_which_images = f"The {images} images have the digest {of_images}. " if images else ""
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
        f"image's objects are {write.text(objects)}. {of_which_images}{ends} Signature: "
        f"{write.signature(main.signature)}."
    )


def in_latex(text: str) -> str:
    r"""Return text that LaTeX prints as it is, on one line.

    >>> in_latex("a_b & 50 %|c")
    'a\\_b \\& 50 \\%\\textbar{}c'
    """
    return one_line(text).translate(_PRINTED).replace("--", "-{}-")
