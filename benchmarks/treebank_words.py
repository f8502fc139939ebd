"""Content words of raw captions against those of their Penn Treebank tokenisation.

    python benchmarks/treebank_words.py captions_val2017.json

Runs pycocoevalcap's tokenizer (needs Java) over a COCO caption file and prints how many captions
give other content words than their tokenisation, and which words differ.
"""

from __future__ import annotations

from pathlib import Path

import click
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

from vifidel_eval.captions import read_references
from vifidel_eval.words.content_words import content_words


@click.command()
@click.argument("captions", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(captions: Path) -> None:
    """Compare the content words of the captions in the COCO file CAPTIONS."""
    raw = [caption for texts in read_references(captions).values() for caption in texts]
    tokenised = PTBTokenizer().tokenize({at: [{"caption": text}] for at, text in enumerate(raw)})
    different = 0
    for at, text in enumerate(raw):
        words, of_tokens = content_words(text), content_words(tokenised[at][0])
        if words != of_tokens:
            different += 1
            print(f"{text!r}: {set(words) - set(of_tokens)} / {set(of_tokens) - set(words)}")
    print(f"{different} of {len(raw)} captions differ")


if __name__ == "__main__":
    main()
