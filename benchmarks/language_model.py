"""The language model: human captions against the same words shuffled.

    python benchmarks/language_model.py captions_val2017.json

Trains on the captions of nine tenths of the images of a COCO caption file and prints in how many
of 1 000 pairs a human caption scores higher than its words in random order, for captions of the
images that were held out and for captions seen in training. Everything is seeded.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import click
import numpy as np
from tabulate import tabulate

from vifidel_eval.captions import read_references
from vifidel_eval.plugins.networks.lm import Epoch, LanguageModel, caption_words, train

_SEED = 0
_PAIRS = 1000
_HELD_OUT = 0.1


def shuffled_pairs(captions: list[str], random: np.random.Generator) -> tuple[list[str], list[str]]:
    """Return captions, drawn without repetition, and each one's words in another order."""
    human, shuffled = [], []
    for at in random.permutation(len(captions)):
        words = caption_words([captions[at]])[0]
        if len(set(words)) < 2:  # there is no other order
            continue
        order = words
        while order == words:
            order = random.permutation(words).tolist()
        human.append(captions[at])
        shuffled.append(" ".join(order))
        if len(human) == _PAIRS:
            break
    return human, shuffled


def scores(scorer: LanguageModel, captions: list[str]) -> np.ndarray:
    gts = {number: [] for number in range(len(captions))}
    return scorer.compute_score(gts, {n: [text] for n, text in enumerate(captions)})[1]


def show(epoch: Epoch) -> None:
    print(f"epoch {epoch.number}: validation perplexity {epoch.perplexity:.2f}", flush=True)


@click.command()
@click.argument("captions", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(captions: Path) -> None:
    """Train and test on the COCO caption file CAPTIONS."""
    references = read_references(captions)
    random = np.random.default_rng(_SEED)
    ids = list(references)
    held_out = {ids[at] for at in random.permutation(len(ids))[: round(_HELD_OUT * len(ids))]}
    training = {i: texts for i, texts in references.items() if i not in held_out}
    sides = {"held-out images": held_out, "training images": training.keys()}
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "lm.pt"
        started = time.perf_counter()
        epochs = train(training, model, seed=_SEED, on_epoch=show)
        minutes = (time.perf_counter() - started) / 60
        scorer = LanguageModel(model)
    best = min(epochs, key=lambda epoch: epoch.perplexity)
    print(
        f"{sum(map(len, training.values()))} captions of {len(training)} images, {len(epochs)} "
        f"epochs in {minutes:.1f} minutes; epoch {best.number} has validation perplexity "
        f"{best.perplexity:.2f}\n{scorer.signature()}\n"
    )
    rows = []
    for name, side in sides.items():
        texts = [text for i in ids if i in side for text in references[i]]
        human, shuffled = shuffled_pairs(texts, random)
        of_human, of_shuffled = scores(scorer, human), scores(scorer, shuffled)
        preferred = (of_human > of_shuffled).mean()
        rows.append((name, len(human), f"{preferred:.1%}", of_human.mean(), of_shuffled.mean()))
    headers = ["captions of", "pairs", "human preferred", "mean score", "mean score shuffled"]
    print(tabulate(rows, headers=headers, floatfmt=".4f"))


if __name__ == "__main__":
    main()
