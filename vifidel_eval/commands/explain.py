"""The command ``vifidel-eval explain``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..explain.explanation import Thresholds
from ..progress import progress_bar
from ..text_tables import Table
from .caption_options import CaptionOptions, caption_options
from .options import TransportOptions, format_option, transport_options
from .paths import CAPTIONS, FILE, OUTPUT, RESULTS, Between, Command, SystemFile
from .printing import show

if TYPE_CHECKING:
    from ..explain.explained import Explained
    from ..explain.explanation import Explanation
    from ..explain.findings import Findings
    from ..explain.sentences import JudgedSentence
    from ..image_ids import ImageId
    from ..rows import Rows
    from ..runs.pairing import System

_DEFAULT = Thresholds()
_References = Mapping["ImageId", list[str]] | None
_Explained = Callable[[Sequence["Rows"]], Iterator[tuple["Explained | None", ...]]]


@click.command(cls=Command)
@click.argument("results", nargs=-1, type=RESULTS)
@click.option("--image", help="Explain only the captions of this image id.")
@click.option("--caption", help="Explain this caption of --image, no result files.")
@click.option(
    "--references",
    type=CAPTIONS,
    help="Reference captions: COCO captions JSON or another caption file. They weight words as "
    "in score, and what they mention counts as in the image.",
)
@caption_options
@transport_options
@click.option(
    "--things",
    type=FILE,
    help="Names of things, one class per line.  [default: our own list]",
)
@click.option(
    "--support",
    type=Between(0, 1),
    default=_DEFAULT.support,
    show_default=True,
    help="Lowest cosine at which a label or a word of the references supports a mention. This and "
    "--far suit the embedded vectors.",
)
@click.option(
    "--far",
    type=Between(-1, 1),
    default=_DEFAULT.far,
    show_default=True,
    help="An object is unmentioned if its cosine with every word is below this.",
)
@click.option("--plan", is_flag=True, help="Show the transport plan of --image too.")
@click.option(
    "--prf-edition",
    type=click.IntRange(1, 2),
    help="Edition of VIFIDEL-PRF, whose P sentences have; 1 is that of version 0.2.  [default: 2]",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="How many words and objects to print per system.",
)
@click.option("--output", type=OUTPUT, help="Write everything found to this JSON file.")
@format_option("How to print; csv has the whole transport plan or the findings.")
def explain(
    results: tuple[SystemFile, ...],
    image: str | None,
    caption: str | None,
    references: Path | None,
    layout: CaptionOptions,
    options: TransportOptions,
    things: Path | None,
    support: float,
    far: float,
    plan: bool,
    prf_edition: int | None,
    top: int,
    output: Path | None,
    style: str,
) -> None:
    """Show what captions say that is not in the images.

    With --image, explain its caption in each result file, or a --caption of your own: what each
    word costs, what supports it, which of the things it mentions are in the image, and what each
    sentence claims; --plan adds the transport plan. Without --image, summarise result files: the
    things most often not in the image and the objects most often unmentioned.

    Things are judged as VIFIDEL-H judges them, by --objects, --references or
    both. RESULTS are PATH or NAME=PATH, as in score.
    """
    _check_usage(results, image, caption, references, options, plan)
    from ..explain.sentences import only_supposed
    from ..files import json_text, write_whole
    from ..image_ids import from_json_key
    from ..runs.pairing import System
    from ..scorers import VifidelH
    from ..scorers.thing_scorer import evidence_settings
    from ..scorers.vifidel import make_vifidel
    from ..scorers.vifidel_prf import make_vifidel_prf
    from ..things.synonyms import read_things

    systems, gold = layout.read(results, references)
    if caption is not None:
        systems = [System("caption", {from_json_key(image or ""): caption})]
    has_references = gold is not None
    names = read_things(things)
    own = {"things": names, "prf_edition": prf_edition}
    settings = options.settings(has_references, has_references, own)
    thresholds = Thresholds(support, far)
    scorer = (
        make_vifidel(settings)
        if options.objects
        else VifidelH(**evidence_settings(settings), support=support)
    )
    document: dict[str, Any] = {
        "signature": scorer.signature(),
        "things": names.signature(),
        "thresholds": {"support": support, "far": far},
    }
    notes = [f"things {names.signature()}, cosines: support {support:g}, far {far:g}"]
    notes.append(document["signature"])
    if image is None:
        found = _find(partial(scorer.explained, thresholds=thresholds), systems, gold)
        document["systems"] = {name: findings.to_json() for name, findings in found.items()}
    else:
        rows = {system.name: _rows(system, image, gold) for system in systems}
        by_sentence = make_vifidel_prf(settings)
        judged = {name: by_sentence.judge_sentences(of_one)[0] for name, of_one in rows.items()}
        explained = {
            name: replace(
                next(scorer.explain_rows(of_one, thresholds)), hedged=only_supposed(judged[name])
            )
            for name, of_one in rows.items()
        }
        document["systems"] = {name: of_one.to_json() for name, of_one in explained.items()}
        sentences = {name: of_one for name, of_one in judged.items() if len(of_one) > 1}
        for name, of_caption in sentences.items():
            document["systems"][name]["sentences"] = [one.to_json() for one in of_caption]
        if sentences:
            document["sentences"] = by_sentence.signature()
            notes.append(document["sentences"])
    text = json_text(document)
    if style == "json":
        shown = text
    elif image is None:
        shown = _show_findings(found, top, style, notes)
    else:
        shown = _show_explanations(explained, sentences, plan, style, notes)
    try:
        show(shown, coloured=style == "table")
    finally:
        if output is not None:
            write_whole(output, text + "\n")


def _check_usage(
    results: Sequence[SystemFile],
    image: str | None,
    caption: str | None,
    references: Path | None,
    options: TransportOptions,
    plan: bool,
) -> None:
    if caption is not None and (results or image is None):
        raise click.UsageError("--caption needs --image, and takes no result files.")
    if caption is None and not results:
        raise click.UsageError("give result files, or --image ID and --caption TEXT.")
    if plan and image is None:
        raise click.UsageError("--plan needs --image.")
    if not options.objects and references is None:
        raise click.UsageError(
            "give --objects: what the images show. References alone will do too: --references."
        )


def _find(
    explained: _Explained, systems: Sequence[System], gold: _References
) -> dict[str, Findings]:
    from ..explain.findings import find
    from ..runs.pairing import all_images, paired

    images = all_images(systems, gold)
    of_systems = {system.name: paired(system, images, allow_subset=True) for system in systems}
    found = {}
    with progress_bar(sum(map(len, of_systems.values()))) as bar:

        def parts(rows: Rows) -> Iterator[Explained]:
            for (part,) in explained([rows]):
                if part is not None:
                    bar.update(len(part))
                    yield part

        for name, rows in of_systems.items():
            found[name] = find(parts(rows))
    return found


def _rows(system: System, image: str, gold: _References) -> Rows:
    """Return the system's caption of one image."""
    from ..rows import make_rows

    image_id = _known_id(image, system.captions, f"system {system.name!r}")
    references = [] if gold is None else gold[_known_id(image, gold, "the reference side")]
    return make_rows([system.captions[image_id]], [image_id], [references])


def _known_id(image: str, known: Mapping[ImageId, Any], knower: str) -> ImageId:
    from ..image_ids import from_json_key, match, mismatch

    asked = from_json_key(image)
    for spelling in (asked, image):
        matched = match([spelling], known)
        if matched:
            return matched[spelling]
    raise mismatch([asked], known, "--image", knower)


def _show_findings(
    found: Mapping[str, Findings], top: int, style: str, notes: Sequence[str]
) -> str:
    from ..explain.findings import NOT_IN_IMAGE, findings_table, summary_table

    table = findings_table(found, top, notes)
    if style == "csv":
        return table.render(style)
    colours = ["red" if NOT_IN_IMAGE in row else "yellow" for row in table.rows]
    return f"{summary_table(found).render(style)}\n\n{_coloured(table, style, colours)}"


def _show_explanations(
    explained: Mapping[str, Explanation],
    sentences: Mapping[str, Sequence[JudgedSentence]],
    plan: bool,
    style: str,
    notes: Sequence[str],
) -> str:
    from ..explain.explanation import one_line, plan_table, tables
    from ..explain.sentences import sentence_table

    if style == "csv":
        return plan_table(explained).render(style)
    shown = []
    for name, explanation in explained.items():
        title = f"{name}, image {explanation.image_id}: {one_line(explanation.caption)}"
        words, *others = tables(explanation, title, plan)
        colours = [{"!": "red", "+": "green"}.get(str(row[0])) for row in words.rows]
        if name in sentences:
            others = [sentence_table(explanation.caption, sentences[name]), *others]
        shown += [_coloured(words, style, colours), *(table.render(style) for table in others)]
    comment = "% " if style == "latex" else ""
    return "\n\n".join([*shown, "\n".join(f"{comment}{note}" for note in notes)])


def _coloured(table: Table, style: str, colours: Sequence[str | None]) -> str:
    """Return a table whose rows are coloured on a terminal; click drops colours elsewhere."""
    text = table.render(style)
    if style != "table" or not table.rows:
        return text
    lines = text.split("\n")
    first = 2 + bool(table.title)
    for number, colour in enumerate(colours, first):
        if colour is not None:
            lines[number] = click.style(lines[number], fg=colour)
    return "\n".join(lines)
