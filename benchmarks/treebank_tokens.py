"""Tokens of the tokenizer in Python against those of pycocoevalcap's, which needs Java.

    python benchmarks/treebank_tokens.py captions_val2017.json

Prints the captions of a COCO caption file that get different tokens, and how many they are.
"""

from __future__ import annotations

from pathlib import Path

import click

from vifidel_eval.captions import read_references
from vifidel_eval.text.tokenization import PtbTokenizer, PythonTokenizer


@click.command()
@click.argument("captions", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(captions: Path) -> None:
    """Compare the tokens of the captions in the COCO file CAPTIONS."""
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


if __name__ == "__main__":
    main()
