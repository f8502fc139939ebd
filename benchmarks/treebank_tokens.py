"""Tokens of the tokenizer in Python against those of pycocoevalcap's, which needs Java.

    python benchmarks/treebank_tokens.py captions_val2017.json [RESULTS.json ...]

Prints the captions of a COCO caption file that get different tokens, and how many they are. With
results of systems, also how far BLEU, ROUGE-L and CIDEr move: their corpus scores, and the images
whose score is another one. The metrics' records in `vifidel_eval.plugins.ngrams` repeat the
largest differences of corpus scores on val2017 (`without_java`).
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
from tabulate import tabulate

from vifidel_eval.captions import read_references, read_results
from vifidel_eval.captions.rows import coco_rows
from vifidel_eval.plugins.java import PtbTokenizer
from vifidel_eval.scorers import Bleu, Cider, RougeL
from vifidel_eval.words.tokenization import PythonTokenizer, Tokenization


@click.command()
@click.argument("captions", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("results", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(captions: Path, results: tuple[Path, ...]) -> None:
    """Compare the tokens of the captions in the COCO file CAPTIONS, and scores of RESULTS."""
    references = read_references(captions)
    ptb = PtbTokenizer().tokenize(references)
    python = PythonTokenizer().tokenize(references)
    captions_read = different = 0
    for image_id, texts in references.items():
        for text, ours, theirs in zip(texts, python[image_id], ptb[image_id], strict=True):
            captions_read += 1
            if ours != theirs:
                different += 1
                print(f"{text!r}: {ours!r} / {theirs!r}")
    share = different / max(captions_read, 1)
    print(f"{different} of {captions_read} captions differ ({share:.3%})")
    both = [Tokenization(PtbTokenizer()), Tokenization(PythonTokenizer())]
    table = []
    for path in results:
        res = {i: [text] for i, text in read_results(path).items() if i in references}
        rows = coco_rows({i: references[i] for i in res}, res)
        for metric in (Bleu, RougeL, Cider):
            of_ptb, of_python = (metric(tokens).evaluate(rows) for tokens in both)
            for column, one in of_ptb.items():
                other = of_python[column]
                images = np.abs(one.scores - other.scores)
                moved = int((images > 0).sum()), float(images.max())
                table.append([path.stem, column, one.score, abs(one.score - other.score), *moved])
    if table:
        headers = ["System", "", "Java", "differs by", "images that differ", "by at most"]
        print(tabulate(table, headers=headers, floatfmt=("", "", ".5f", ".1e", "", ".4f")))


if __name__ == "__main__":
    main()
