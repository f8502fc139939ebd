"""BLEU, ROUGE-L and CIDEr of every caption of three data sets beside pycocoevalcap's own classes.

    python benchmarks/ngrams.py SHARED

SHARED/data holds ``coco/captions_val2017_{references,human_results,shuffled_results,
degenerate_results}.json``, ``pascal50s`` and ``flickr8k``. Both sides get the same tokens, those of
the tokenizer in Python. Prints the largest difference between the scores of a caption, and between
the corpus scores, and exits with 1 if one is not below 1e-10.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from pycocoevalcap.bleu.bleu import Bleu as StockBleu
from pycocoevalcap.cider.cider import Cider as StockCider
from pycocoevalcap.rouge.rouge import Rouge as StockRouge
from tabulate import tabulate

from vifidel_eval.captions import read_references, read_results
from vifidel_eval.captions.rows import coco_rows
from vifidel_eval.plugins.agreement.flickr8k import read_flickr8k
from vifidel_eval.plugins.agreement.judgements import Judged
from vifidel_eval.plugins.agreement.readers import read_pascal50s
from vifidel_eval.scorers import Bleu, Cider, RougeL
from vifidel_eval.words.tokenization import PythonTokenizer, Tokenization

LARGEST = 1e-10
Texts = dict[Any, list[str]]


def of_val2017(folder: Path) -> Iterator[tuple[str, Texts, Texts]]:
    """Yield name, references and candidates of each system."""
    references = read_references(folder / "captions_val2017_references.json")
    for name in ("human", "shuffled", "degenerate"):
        results = read_results(folder / f"captions_val2017_{name}_results.json")
        known = {i: [caption] for i, caption in results.items() if i in references}
        yield f"val2017, {name}", {i: list(references[i]) for i in known}, known


def of_judged(name: str, judged: Sequence[Judged]) -> Iterator[tuple[str, Texts, Texts]]:
    """Yield name, references and candidates, for each caption of those judged together."""
    for side in range(len(judged[0].captions)):
        others = {at: one.others(one.references) for at, one in enumerate(judged)}
        gts = {at: references for at, references in others.items() if references}
        yield f"{name}, caption {side + 1}", gts, {at: [judged[at].captions[side]] for at in gts}


def rows_of(score: Any, scores: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return corpus scores and caption scores, a row per column."""
    return np.atleast_1d(score), np.atleast_2d(np.asarray(scores, dtype=np.float64))


def differences(gts: Mapping[Any, list[str]], res: Mapping[Any, list[str]]) -> Iterator[list[Any]]:
    """Yield metric, largest difference of a caption's score and of the corpus scores."""
    tokens = Tokenization(PythonTokenizer())
    tokenised = tokens.tokens(gts), tokens.tokens(res)
    rows = coco_rows(gts, res)
    metrics = ((Bleu, StockBleu(4)), (RougeL, StockRouge()), (Cider, StockCider()))
    for metric, stock in metrics:
        with contextlib.redirect_stdout(io.StringIO()):
            theirs = rows_of(*stock.compute_score(*tokenised))
        found = metric(tokens).evaluate(rows).values()
        ours = rows_of([e.score for e in found], [e.scores for e in found])
        corpus, captions = (np.abs(a - b).max() for a, b in zip(ours, theirs, strict=True))
        yield [metric.__name__, captions, corpus]


@click.command()
@click.argument("shared", type=click.Path(exists=True, path_type=Path))
def main(shared: Path) -> None:
    """Compare the scores of all captions of the data in SHARED."""
    data = shared / "data"
    table = [
        [name, len(gts), *row]
        for texts in (
            of_val2017(data / "coco"),
            of_judged("PASCAL-50S", read_pascal50s(data / "pascal50s").judged),
            of_judged("Flickr8k", read_flickr8k(data / "flickr8k").judged),
        )
        for name, gts, res in texts
        for row in differences(gts, res)
    ]
    headers = ["", "captions", "", "a caption differs by", "the corpus by"]
    print(tabulate(table, headers=headers, floatfmt="g"))
    sys.exit(not all(max(row[3:]) < LARGEST for row in table))


if __name__ == "__main__":
    main()
