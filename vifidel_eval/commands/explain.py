"""The command ``vifidel-eval explain``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ..explain.explanation import Thresholds
from ..io.progress import progress_bar
from .options import caption_options, format_option, transport_options
from .paths import CAPTIONS, FILE, OUTPUT, RESULTS, Between, Command, SystemFile, named
from .printing import show

if TYPE_CHECKING:
    from ..captions.fields import Wanted
    from ..captions.rows import Rows
    from ..explain.explained import Explained
    from ..explain.inventions import Invention
    from ..explain.sentences import JudgedSentence
    from ..io.image_ids import ImageId
    from ..scorers.explaining import Explainer
    from ..scorers.record import Settings
    from ..scores.pairing import System

_DEFAULT = Thresholds()
_BY_WORDS, _BY_CATEGORY = "VIFIDEL-H", "CHAIR"
_ROW_FILES = (".csv", ".jsonl")


def _rows_file(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    """Return a file of rows, whose name says how they are written."""
    if path is not None and path.suffix.lower() not in _ROW_FILES:
        raise click.BadParameter(f"{path}: give a name that ends in {' or '.join(_ROW_FILES)}.")
    return path


@click.command(cls=Command)
@click.argument("results", nargs=-1, type=RESULTS)
@click.option("--image", help="Explain only the captions of this image id.")
@click.option("--caption", help="Explain this caption of --image, no result files.")
@click.option(
    "--references",
    type=CAPTIONS,
    help="Reference captions: any caption file. They weight words; what they mention is there.",
)
@click.option(
    "--no-references",
    is_flag=True,
    help="Explain by --objects alone.",
)
@caption_options
@transport_options
@click.option("--allow-subset", is_flag=True, help="Accept files that lack some of the images.")
@click.option(
    "--image-ids",
    type=FILE,
    help="Only these ids: a JSON list or one per line.",
)
@click.option(
    "--metric",
    type=click.Choice([_BY_WORDS, _BY_CATEGORY], case_sensitive=False),
    default=_BY_WORDS,
    show_default=True,
    metavar="NAME",
    help="Whose verdicts: VIFIDEL-H or CHAIR.",
)
@click.option(
    "--things",
    type=FILE,
    help="Object vocabulary: one class per line.  [default: our own list]",
)
@click.option(
    "--synonyms",
    type=FILE,
    help="Names of each category, for --metric CHAIR.  [default: our own list for COCO's 80]",
)
@click.option(
    "--drop-incomplete",
    is_flag=True,
    help="Leave an unfinished last sentence out of captions, for --metric CHAIR.",
)
@click.option(
    "--support",
    type=Between(0, 1),
    default=_DEFAULT.support,
    show_default=True,
    help="Lowest cosine that supports a mention; it suits the embedded vectors.",
)
@click.option(
    "--far",
    type=Between(-1, 1),
    default=_DEFAULT.far,
    show_default=True,
    help="An object is unmentioned if its cosine with every word is below this; it suits the "
    "embedded vectors.",
)
@click.option("--plan", is_flag=True, help="Show the transport plan of --image too.")
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Words and objects per system.",
)
@click.option(
    "--inventions",
    type=OUTPUT,
    callback=_rows_file,
    metavar="FILE",
    help="Write all that is made up to this .csv or .jsonl file, a row per word.",
)
@click.option("--output", type=OUTPUT, help="Write everything found as JSON.")
@format_option("How to print; csv has the plan or the findings.")
@click.pass_context
def explain(
    ctx: click.Context,
    results: tuple[SystemFile, ...],
    image: str | None,
    caption: str | None,
    references: Path | None,
    no_references: bool,
    wanted: Wanted,
    settings: Settings,
    allow_subset: bool,
    image_ids: Path | None,
    metric: str,
    things: Path | None,
    synonyms: Path | None,
    drop_incomplete: bool,
    support: float,
    far: float,
    plan: bool,
    top: int,
    inventions: Path | None,
    output: Path | None,
    style: str,
) -> None:
    """Show what captions say that is not in the images.

    With --image, explain its caption in each result file, or a --caption of your own: what each
    word costs, what supports it, which of the things it mentions are in the image, and what each
    sentence claims. Without --image, summarise result files: the things most often not in the image
    and the objects most often unmentioned; --inventions writes every one.

    Things are judged as VIFIDEL-H judges them, by --objects, --references or
    both. RESULTS are PATH or NAME=PATH, as in score.
    """
    by_category = metric == _BY_CATEGORY
    evidence = None if no_references else references
    _check_usage(ctx.params, by_category, evidence)
    from ..explain.findings import find
    from ..explain.inventions import rows_of
    from ..io.files import json_text, write_whole
    from ..io.image_ids import from_json_key
    from ..run.evaluating import read_captions
    from ..scores.pairing import System
    from ..show.explanations import explanations_text, findings_text
    from ..words.synonyms import read_things

    systems, gold = read_captions(named(results), references, wanted, image_ids)
    if caption is not None:
        systems = [System("caption", {from_json_key(image or ""): caption})]
    names = read_things(things)
    settings = replace(
        settings,
        references=gold is not None,
        weighted=evidence is not None,
        options={
            "things": names,
            "synonyms": synonyms,
            "drop_incomplete": drop_incomplete,
        },
    )
    scorer = _explainer(settings, metric, support)
    rows = _rows(systems, image, gold, settings, {metric: scorer}, allow_subset)
    document: dict[str, Any] = {"signature": scorer.signature()}
    notes = []
    if not by_category:
        document |= {
            "things": names.signature(),
            "thresholds": {"support": support, "far": far},
        }
        notes = [f"things {document['things']}, cosines: support {support:g}, far {far:g}"]
    notes.append(document["signature"])
    shown: Callable[[str, Sequence[str]], str]
    invented: list[Invention] | None = None if inventions is None else []
    parts = _explained(scorer, Thresholds(support, far), rows, invented)
    if image is None:
        found = {name: find(of_one) for name, of_one in parts}
        document["systems"] = {name: findings.to_json() for name, findings in found.items()}
        shown = partial(findings_text, found, metric, top)
    else:
        explained = {name: next(chain.from_iterable(of_one)) for name, of_one in parts}
        document["systems"] = {name: of_one.to_json() for name, of_one in explained.items()}
        sentences, signature = ({}, "") if by_category else _sentences(settings, rows)
        for name, of_caption in sentences.items():
            document["systems"][name]["sentences"] = [one.to_json() for one in of_caption]
        if sentences:
            document["sentences"] = signature
            notes.append(signature)
        shown = partial(explanations_text, explained, sentences, plan)
    text = json_text(document)
    try:
        show(text if style == "json" else shown(style, notes), coloured=style == "table")
    finally:
        if output is not None:
            write_whole(output, text + "\n")
        if inventions is not None:
            write_whole(inventions, rows_of(invented or [], inventions.suffix))


def _check_usage(given: Mapping[str, Any], by_category: bool, evidence: Path | None) -> None:
    """Check that no option contradicts another one, or lacks what it needs."""
    results, image, caption = given["results"], given["image"], given["caption"]
    if caption is not None and (results or image is None):
        raise click.UsageError("--caption needs --image, and takes no result files.")
    if caption is None and not results:
        raise click.UsageError("give result files, or --image ID and --caption TEXT.")
    if given["plan"] and image is None:
        raise click.UsageError("--plan needs --image.")
    if given["image_ids"] is not None and image is not None:
        raise click.UsageError("--image is one image, --image-ids are several: give one of them.")
    if by_category and not given["objects"]:
        raise click.UsageError(f"--metric {_BY_CATEGORY} needs --objects: what the images show.")
    if not given["objects"] and evidence is None:
        raise click.UsageError(
            "give --objects: what the images show. References alone will do too: --references."
        )


def _explainer(settings: Settings, metric: str, support: float) -> Explainer:
    """Return what explains captions by these settings."""
    from ..scorers import VifidelH
    from ..scorers.registry import METRICS

    if metric == _BY_CATEGORY or settings.objects:
        name = _BY_CATEGORY if metric == _BY_CATEGORY else "VIFIDEL"
        return cast("Explainer", METRICS[name].make(settings))
    return VifidelH(**settings.evidence, support=support)


def _explained(
    scorer: Explainer,
    thresholds: Thresholds,
    rows: Mapping[str, Rows],
    invented: list[Invention] | None,
) -> Iterator[tuple[str, Iterator[Explained]]]:
    """Yield each system with its explanations; those that are read add to what is `invented`."""
    from ..explain.inventions import inventions_in

    with progress_bar(sum(map(len, rows.values()))) as bar:

        def parts(name: str) -> Iterator[Explained]:
            for part in scorer.explained_rows(rows[name], thresholds):
                bar.update(len(part))
                if invented is not None:
                    invented.extend(inventions_in(name, part, scorer.units))
                yield part

        yield from ((name, parts(name)) for name in rows)


def _sentences(
    settings: Settings, rows: Mapping[str, Rows]
) -> tuple[dict[str, Sequence[JudgedSentence]], str]:
    """Return the sentences of captions that have several, and the signature of their P."""
    from ..scorers.vifidel_prf import VifidelPRF

    scorer = VifidelPRF(**settings.evidence)
    judged = {name: scorer.judge_sentences(of_one)[0] for name, of_one in rows.items()}
    return {name: found for name, found in judged.items() if len(found) > 1}, scorer.signature()


def _rows(
    systems: list[System],
    image: str | None,
    gold: dict[ImageId, list[str]] | None,
    settings: Settings,
    scorers: Mapping[str, Explainer],
    allow_subset: bool,
) -> dict[str, Rows]:
    """Return the captions of each system, of all images or of one; warn if they are not English."""
    from ..captions.rows import make_rows
    from ..scores.doubts import warn_of_language
    from ..scores.pairing import all_images, in_one_spelling, paired

    warn_of_language(systems, gold, scorers)
    if settings.labels is not None:
        systems, gold = in_one_spelling(systems, settings.labels, gold)
    if image is None:
        images = all_images(systems, gold)
        return {system.name: paired(system, images, allow_subset) for system in systems}
    rows = {}
    for system in systems:
        image_id = _known_id(image, system.captions, f"system {system.name!r}")
        references = [] if gold is None else gold[_known_id(image, gold, "the reference side")]
        rows[system.name] = make_rows([system.captions[image_id]], [image_id], [references])
    return rows


def _known_id(image: str, known: Mapping[ImageId, Any], knower: str) -> ImageId:
    from ..io.image_ids import from_json_key, match, mismatch

    asked = from_json_key(image)
    for spelling in (asked, image):
        matched = match([spelling], known)
        if matched:
            return matched[spelling]
    raise mismatch([asked], known, "--image", knower)
