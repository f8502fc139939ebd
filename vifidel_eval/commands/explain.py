"""The command ``vifidel-eval explain``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ..doors.arguments import INPUT, OUTPUT, option
from ..io.digits import for_json
from ..io.files import json_text, write_whole
from ..io.image_ids import ImageId, from_json_key, match, mismatch
from ..io.progress import phase, progress_bar
from ..words.settings import DROP_INCOMPLETE, ONLY_THINGS, SYNONYMS, THINGS, Thresholds
from .options import Command, flag, param, record, settings_options, style_of
from .paths import CAPTIONS, RESULTS, SystemFile, Written, named
from .paths import OUTPUT as OUTPUT_FILE
from .printing import show

if TYPE_CHECKING:
    from ..captions.fields import CaptionFields, Selection
    from ..captions.rows import Rows
    from ..explain.explanation import Explanation
    from ..explain.sentences import Invention, JudgedSentence
    from ..scorers.explaining import Explainer
    from ..scorers.vifidel_prf import PartsOfF
    from ..scores.alignment import System
    from ..words.settings import Settings
    from ..words.synonyms import ClassList

_BY_WORDS, _BY_CATEGORY = "VIFIDEL-H", "CHAIR"


class _Rows(Written):
    """A file of rows, whose name says how they are written."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if path.suffix.lower() not in (".csv", ".jsonl"):
            self.fail(f"{path}: give a name that ends in .csv or .jsonl.", param, ctx)
        return path


@dataclass(frozen=True)
class Explaining:
    """What is explained, and how it is shown; each field is an option."""

    image: str | None = option(None, "Explain only the captions of this image.", str, section="")
    caption: str | None = option(
        None, "Explain this caption of --image instead of result files.", str, section=""
    )
    metric: str = option(
        _BY_WORDS,
        "Show the verdicts of this metric: VIFIDEL-H or CHAIR.",
        click.Choice([_BY_WORDS, _BY_CATEGORY], case_sensitive=False),
        metavar="NAME",
    )
    plan: bool = option(False, "Also show the transport plan of --image.", bool, section="")
    top: int = option(
        10, "Number of words and objects to show per system.", click.IntRange(min=1), section=""
    )
    inventions: Path | None = option(
        None,
        "Write all made-up things to this .csv or .jsonl file, one row per mention.",
        _Rows(),
        section=OUTPUT,
        metavar="FILE",
    )
    output: Path | None = option(None, "Write all results as JSON.", OUTPUT_FILE, section=OUTPUT)
    style: str = style_of("How to print (csv prints the plan, or the lists):")

    @property
    def by_category(self) -> bool:
        """Whether CHAIR's categories decide."""
        return self.metric == _BY_CATEGORY


@click.command(
    cls=Command,
    examples=(
        "explain mine.json --objects instances.json --image 42",
        "explain mine.json base.json --objects instances.json --inventions made_up.csv",
        'explain --image 42 --caption "a dog on a couch" --objects instances.json',
    ),
)
@click.argument("results", nargs=-1, type=RESULTS)
@param(
    "--references",
    type=CAPTIONS,
    help="Reference captions: any caption file. They weight words, and the things they mention "
    "count as in the image.",
    section=INPUT,
)
@record("vifidel_eval.captions.fields:CaptionFields", "fields")
@settings_options(
    (THINGS, ONLY_THINGS, SYNONYMS, DROP_INCOMPLETE), omit=("detector", "images", "paper")
)
@record("vifidel_eval.captions.fields:Selection", "selection", omit=("people",))
@record("vifidel_eval.words.settings:Thresholds", "thresholds")
@record(Explaining, "chosen")
def explain(
    results: tuple[SystemFile, ...],
    references: Path | None,
    fields: CaptionFields,
    settings: Settings,
    selection: Selection,
    thresholds: Thresholds,
    chosen: Explaining,
) -> None:
    """Show which things in captions are made up, and which objects they miss.

    With --image, explain each system's caption of one image, or your own --caption. Without it,
    summarise result files: what is made up and which objects are missed, most often first.
    --inventions writes all made-up things.

    With --samples, show how many of a system's answers mention each thing, most frequent first.

    Things are judged as in VIFIDEL-H, with --objects, --references or both as evidence. RESULTS
    are PATH or NAME=PATH, as in score.
    """
    settings = settings.with_references(references is not None)
    _check_usage(results, fields, settings, selection, thresholds, chosen)
    from ..explain.findings import find
    from ..explain.sentences import answers_json
    from ..run.reading import READING
    from ..show.explanations import answers_text, explanations_text, findings_text

    with phase(READING):
        systems, by_image, settings, names = _read(
            results, references, fields, settings, selection, chosen
        )
        scorer = _explainer(settings, thresholds, chosen)
    rows = _rows(systems, by_image, settings, scorer, selection.allow_subset, chosen)
    document: dict[str, Any] = {"signature": scorer.signature()}
    notes = []
    if not chosen.by_category:
        document |= {"things": names.signature(), "thresholds": asdict(thresholds)}
        cosines = f"support {thresholds.support:g}, far {thresholds.far:g}"
        notes = [f"Names of things: {names.signature()}. Cosines: {cosines}."]
    notes.append(document["signature"])
    invented: list[Invention] = []
    parts = _explained(
        scorer, thresholds, rows, invented if chosen.inventions else None, fields.samples
    )
    if chosen.image is None:
        findings = {name: find([explained], fields.samples) for name, explained in parts}
        document["systems"] = {name: f.to_json() for name, f in findings.items()}
        text = partial(findings_text, findings, chosen.metric, chosen.top)
    elif fields.samples:
        answers = {name: list(explained) for name, explained in parts}
        document["systems"] = {name: answers_json(answers[name]) for name in answers}
        text = partial(answers_text, answers, scorer.method())
    else:
        captions = {name: next(explained) for name, explained in parts}
        document["systems"] = {name: captions[name].to_json() for name in captions}
        sentences: dict[str, list[JudgedSentence]] = {}
        parts_of_f: dict[str, PartsOfF] = {}
        if not chosen.by_category:
            from ..scorers.vifidel_prf import VifidelPRF

            prf = VifidelPRF(**settings.evidence)
            sentences = {name: prf.judge_sentences(own)[0] for name, own in rows.items()}
            parts_of_f = {name: prf.parts_of_f(own)[0] for name, own in rows.items()}
            document["sentences"] = prf.signature()
            for name, content in document["systems"].items():
                content.update(_fidelity_json(sentences[name], parts_of_f[name]))
            notes = [document["sentences"], *(notes if chosen.plan else ())]
        several = {name: listed for name, listed in sentences.items() if len(listed) > 1}
        text = partial(explanations_text, captions, parts_of_f, several, chosen.plan)
    text = partial(text, chosen.style, notes)
    _deliver(chosen, json_text(document), text, invented, fields.samples)


def _read(
    results: Sequence[SystemFile],
    references: Path | None,
    fields: CaptionFields,
    settings: Settings,
    selection: Selection,
    chosen: Explaining,
) -> tuple[Sequence[System], Mapping[ImageId, Sequence[str]] | None, Settings, ClassList]:
    """Return systems, references, settings with what their files hold, and the names of things."""
    from ..run.reading import read_captions, with_labels
    from ..scores.alignment import System
    from ..words.synonyms import read_things

    systems, by_image = read_captions(
        named(results), references, fields, selection.image_ids, settings.as_written
    )
    if chosen.caption is not None:
        caption = {from_json_key(chosen.image or ""): chosen.caption}
        systems = [System.read("caption", caption, settings.as_written)]
    names = read_things(settings.options["things"], settings.options["only_things"])
    options = {**settings.options, "things": None, "only_things": names}
    return systems, by_image, with_labels(replace(settings, options=options)), names


def _explainer(settings: Settings, thresholds: Thresholds, chosen: Explaining) -> Explainer:
    """Return what explains the captions: the metric that was chosen, by the evidence there is."""
    from ..scorers import VifidelH
    from ..scorers.registry import METRICS

    if chosen.by_category or settings.objects:
        metric = METRICS[_BY_CATEGORY if chosen.by_category else "VIFIDEL"]
        return cast("Explainer", metric.scorer_for(settings))
    scorer = VifidelH(**settings.evidence, support=thresholds.support)
    return scorer.as_written() if settings.as_written else scorer


def _deliver(
    chosen: Explaining,
    document: str,
    text: Callable[[], str],
    invented: list[Invention],
    of_samples: bool,
) -> None:
    """Print what was explained, and write the files that were asked for."""
    from ..explain.sentences import rows_of

    try:
        show(document if chosen.style == "json" else text(), coloured=chosen.style == "table")
    finally:
        if chosen.output is not None:
            write_whole(chosen.output, document + "\n")
        if chosen.inventions is not None:
            rows = rows_of(invented, chosen.inventions.suffix, of_samples)
            write_whole(chosen.inventions, rows)


def _check_usage(
    results: Sequence[SystemFile],
    fields: CaptionFields,
    settings: Settings,
    selection: Selection,
    thresholds: Thresholds,
    chosen: Explaining,
) -> None:
    """Check that no option contradicts another one, or lacks what it needs."""
    if chosen.caption is not None and (results or chosen.image is None):
        raise click.UsageError("--caption needs --image, and takes no result files.")
    if chosen.caption is None and not results:
        raise click.UsageError("give result files, or --image ID and --caption TEXT.")
    if chosen.caption is not None and fields.samples:
        raise click.UsageError("--caption is one caption; leave out --samples.")
    if chosen.plan and chosen.image is None:
        raise click.UsageError("--plan needs --image.")
    if chosen.plan and fields.samples:
        raise click.UsageError(
            "--plan is of one caption; leave out --samples, and give it with --caption."
        )
    if selection.image_ids is not None and chosen.image is not None:
        raise click.UsageError(
            "--image explains one image and --image-ids several: give one of them."
        )
    if chosen.by_category and not settings.objects:
        raise click.UsageError(f"--metric {_BY_CATEGORY} needs --objects (what the images show).")
    unread = (THINGS, ONLY_THINGS) if chosen.by_category else (SYNONYMS, DROP_INCOMPLETE)
    for setting in unread:
        if settings.options[setting.name] != setting.default:
            other = _BY_WORDS if chosen.by_category else _BY_CATEGORY
            raise click.UsageError(f"{flag(setting.name)} needs --metric {other}.")
    for name, cosine in asdict(Thresholds()).items() if chosen.by_category else ():
        if getattr(thresholds, name) != cosine:
            raise click.UsageError(f"{flag(name)} needs --metric {_BY_WORDS}.")
    if not settings.objects and not settings.weighted:
        raise click.UsageError("give --objects (what the images show), --references, or both.")


def _explained(
    scorer: Explainer,
    thresholds: Thresholds,
    rows: Mapping[str, Rows],
    invented: list[Invention] | None,
    of_samples: bool,
) -> Iterator[tuple[str, Iterator[Explanation]]]:
    """Yield each system with its explanations; reading these adds to `invented`."""
    from ..explain.sentences import by_image, inventions_in, inventions_in_answers

    inventions_of = inventions_in_answers if of_samples else inventions_in
    with progress_bar(sum(map(len, rows.values()))) as bar:

        def explanations(name: str) -> Iterator[Explanation]:
            for _, of_image in by_image(scorer.explain_rows(rows[name], thresholds)):
                bar.update(len(of_image))
                if invented is not None:
                    invented.extend(inventions_of(name, of_image))
                yield from of_image

        yield from ((name, explanations(name)) for name in rows)


def _fidelity_json(sentences: Sequence[JudgedSentence], parts: PartsOfF) -> dict[str, Any]:
    """Return what VIFIDEL-F of a caption is made of, for JSON, with its sentences if several."""
    listed = [sentence.to_json() for sentence in sentences]
    content = {"sentences": listed} if len(listed) > 1 else {}
    return {**content, "vifidel_f": for_json(parts._asdict())}


def _rows(
    systems: Sequence[System],
    by_image: Mapping[ImageId, Sequence[str]] | None,
    settings: Settings,
    scorer: Explainer,
    allow_subset: bool,
    chosen: Explaining,
) -> dict[str, Rows]:
    """Return the captions of each system, of all images or of one; warn if they are not English."""
    from ..scores.alignment import (
        Aligned,
        align,
        check_complete,
        in_one_spelling,
        pooled,
        samples_of,
    )
    from ..scores.run_warnings import warn_of_language

    warn_of_language(pooled(systems), by_image, {chosen.metric: scorer})
    if chosen.image is None:
        aligned = align(systems, by_image, settings.labels)
        if not allow_subset:
            check_complete(aligned)
        return aligned.rows_of_answers()
    systems, by_image = in_one_spelling(systems, by_image, settings.labels)
    rows: dict[str, Rows] = {}
    for name, samples in samples_of(systems).items():
        # Of samples, the first has every image.
        image_id = _known_id(chosen.image, samples[0].captions, f"system {name!r}")
        references: Sequence[str] = ()
        if by_image is not None:
            references = by_image[_known_id(chosen.image, by_image, "the reference side")]
        rows[name] = Aligned({image_id: references}, samples).rows_of(*samples)
    return rows


def _known_id(image: str, images: Mapping[ImageId, Any], knower: str) -> ImageId:
    asked = from_json_key(image)
    for spelling in (asked, image):
        matched = match([spelling], images)
        if matched:
            return matched[spelling]
    raise mismatch([asked], images, "--image", knower)
