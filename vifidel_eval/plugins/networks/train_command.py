"""The command ``vifidel-eval train-lm``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...commands.options import Command, record, reference_options
from ...commands.paths import CAPTIONS, Written
from ...commands.printing import harmless, show, tell
from ...io.files import beside
from ...io.records import progress_bar

if TYPE_CHECKING:
    from ...captions.fields import Wanted
    from .language_training import Training


@click.command("train-lm", cls=Command)
@click.argument("captions", type=CAPTIONS)
@reference_options
@click.option(
    "--output",
    type=Written(".unfinished"),
    required=True,
    help="File of the trained model, such as lm.pt.",
)
@record(
    "vifidel_eval.plugins.networks.language_training:Training",
    "training",
    only=("epochs", "seed", "hidden"),
)
def train_lm(captions: Path, wanted: Wanted, output: Path, training: Training) -> None:
    """Train the language model of the metric LM.

    CAPTIONS is a COCO caption file, or another file of references. After an interruption, the same
    command continues from the last complete epoch.
    """
    from tqdm import tqdm

    from ...captions import read_references
    from .language_training import Epoch, train

    texts = read_references(captions, wanted.splits, wanted.id_fields, wanted.reference_fields)
    unfinished = beside(output, ".unfinished")
    with progress_bar(
        training.epochs, bar_format="{l_bar}{bar}| {elapsed}<{remaining}", delay=0
    ) as bar:

        def report(epoch: Epoch) -> None:
            if epoch.resumed and epoch.number == 1:
                going_on = f"{unfinished}: going on with the unfinished training that it holds."
                tqdm.write(harmless(going_on), file=sys.stderr)
            line = f"epoch {epoch.number}: validation perplexity {epoch.perplexity:.2f}"
            notes = ["the best so far"] * epoch.best + ["computed before"] * epoch.resumed
            tqdm.write(", ".join([line, *notes]), file=sys.stdout)

        try:
            done = train(texts, output, bar.update, report, **vars(training))
        except KeyboardInterrupt:
            if unfinished.exists():
                tell("Interrupted; the same command continues after the last complete epoch.")
            raise
    best = min(done, key=lambda epoch: epoch.perplexity)
    show(f"{output}: epoch {best.number}, validation perplexity {best.perplexity:.2f}")
