"""The data sets of the commands ``vifidel-eval agreement``: what each is, and its own options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ...commands.options import record, reference_options
from ...commands.paths import CAPTIONS

if TYPE_CHECKING:
    from ...captions.fields import CaptionFields
    from .judgements import Choices, Hallucinations, Ratings

_TIES = click.option(
    "--ties",
    type=click.Choice(["half", "wrong", "right"]),
    default="half",
    show_default=True,
    help="How to count pairs whose captions get the same score.",
)
_CONSENSUS = click.option(
    "--consensus",
    is_flag=True,
    help="Use the triplets in consensus_pascal.mat instead of the direct votes.",
)
#: Gives references where the files have none.
references_option = click.option(
    "--captions", type=CAPTIONS, help="References, if the file has none: any caption file."
)


class DataSet(NamedTuple):
    """A data set as a command, which reads it with ``read_NAME`` of a module."""

    name: str
    module: str
    summary: str
    files: str  #: a sentence on what it reads, which begins with what the user calls the path
    references: str = "all"  #: what ``--references`` are by default
    options: Sequence[Callable[..., Any]] = ()
    #: The option that gives references where the files have none.
    references_from: str = "--references"

    def read(
        self,
        path: Path,
        captions: Path | None = None,
        wanted: CaptionFields | None = None,
        **options: Any,
    ) -> Choices | Ratings | Hallucinations:
        """Read it; its references too, from a file of captions and its fields."""
        from ...captions import read_references

        if captions is not None and wanted is not None:
            options["references"] = read_references(
                captions, wanted.splits, wanted.id_fields, wanted.reference_fields
            )
        module = import_module(f".{self.module}", __package__)
        reader = getattr(module, f"read_{self.name.replace('-', '_')}")
        data: Choices | Ratings | Hallucinations = reader(path, **options)
        return data


DATA_SETS = (
    DataSet(
        "pascal50s",
        "readers",
        "PASCAL-50S: which of two captions people prefer.",
        "FOLDER holds pair_pascal.mat and pascal50S.mat.",
        "0,1,5,48",
        (_CONSENSUS, _TIES),
    ),
    DataSet(
        "abstract50s",
        "readers",
        "Abstract-50S: which of two captions people prefer.",
        "FOLDER holds consensus_abstract.mat.",
        "1,5,48",
        (_TIES,),
    ),
    DataSet(
        "distractors",
        "readers",
        "Correct captions against distractors, kind by kind.",
        'FILE is a JSON list of {"image_id", "kind", "correct", "distractor", "references"}, or '
        "the folder of Hodosh and Hockenmaier's pairs: a text file for each kind, a line for each "
        "pair, with image, caption and distractor between tabs.",
        options=(references_option, reference_options, _TIES),
        references_from="--captions",
    ),
    DataSet(
        "flickr8k",
        "flickr8k",
        "Flickr8k: ratings of captions by experts, and by a crowd.",
        "FOLDER holds Flickr8k.token.txt, and ExpertAnnotations.txt, CrowdFlowerAnnotations.txt or "
        "both.",
    ),
    DataSet(
        "composite",
        "flickr8k",
        "Composite: ratings of captions.",
        "FOLDER holds 8k_correctness.csv, 8k_throughness.csv and Flickr8k.token.txt; for the "
        "other sources, 30k_*.csv with results_20130124.token, and coco_*.csv with "
        "captions_val2014.json.",
    ),
    DataSet(
        "thumb",
        "readers",
        "THumB: ratings of captions for precision and recall.",
        "FOLDER holds mscoco_THumB-1.0.jsonl and mscoco_references.json.",
    ),
    DataSet(
        "nocaps-foil",
        "readers",
        "nocaps-FOIL: captions with one noun replaced.",
        "FILE is nocaps-val-foil.json.",
    ),
    DataSet(
        "judgements",
        "judgements",
        "Any file of captions with ratings.",
        "FILE is a table or a list with a caption, its references and ratings in each row; the "
        "files of Polaris, Nebula, LongCap-Arena and Composite need no options.",
        options=(record(f"{__package__}.judgements:Columns", "columns"),),
        references_from="--references-field",
    ),
    DataSet(
        "battles",
        "systems",
        "Battles: which of two systems' captions people prefer.",
        'FILE is a table or a list of {"caption_a", "caption_b", "model_a", "model_b", "winner"}; '
        "the files of arenas need no options.",
        options=(_TIES,),
    ),
    DataSet(
        "spans",
        "spans",
        "Captions in which people marked spans that are made up, by kind.",
        'FILE is a JSON list or JSON Lines of {"image_id", "caption", "spans"}, of tokens with '
        "labels, or hat.json.",
        options=(
            click.option(
                "--kind", "kinds", multiple=True, help="Only spans of this kind (repeatable)."
            ),
        ),
    ),
    DataSet(
        "hat",
        "readers",
        "HAT: captions in which people marked what is made up.",
        "FILE is hat.json.",
    ),
)
