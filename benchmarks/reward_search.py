"""What a search over words makes of VIFIDEL-F as a reward: how far it comes without grammar.

    python benchmarks/reward_search.py SHARED [--images N] [--queries N]

SHARED/data/coco has val2017. The evidence of an image is its objects and all of its captions but
the first, which is the score of people. The search knows neither: it begins with nothing, adds,
replaces, removes or moves a word of other images' captions, and keeps what has the highest reward.
In each round, 20 texts of an image are scored. The second reward is F times the share of a text's
pairs of words that captions of other images have; .6 of them are enough. docs/training.md holds
what this prints.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import click
import numpy as np

from vifidel_eval.annotations import read_objects
from vifidel_eval.captions import read_references
from vifidel_eval.captions.rows import make_rows
from vifidel_eval.scorers import VifidelPRF
from vifidel_eval.words.content_words import content_words

TEXTS = 20  # of an image in a round
LONGEST = 10  # words
ENOUGH = 0.6  # of the pairs of words


def word_pairs(text: str) -> list[tuple[str, str]]:
    return list(pairwise(["", *text.lower().strip(" .").split()]))


def changed(words: list[str], vocabulary: list[str], draw: random.Random) -> list[str]:
    """Return words with one to three changes; how often a word is in `vocabulary` is its weight."""
    words = list(words)
    for _ in range(draw.randint(1, 3)):
        at, action = draw.randint(0, len(words)), draw.random()
        if action < 0.5 and len(words) < LONGEST:
            words.insert(at, draw.choice(vocabulary))
        elif words and action < 0.8:
            words[at - 1] = draw.choice(vocabulary)
        elif words and action < 0.9:
            del words[at - 1]
        elif words:
            words.insert(at - 1, words.pop(draw.randrange(len(words))))
    return words


@click.command()
@click.argument("shared", type=click.Path(exists=True, path_type=Path))
@click.option("--images", default=50, show_default=True, help="Images of val2017.")
@click.option("--queries", default=400, show_default=True, help="Texts scored for each image.")
def main(shared: Path, images: int, queries: int) -> None:
    """Print the mean reward of people and of the search, and the first texts that it found."""
    objects = read_objects(shared / "data/coco/instances_val2017.json")
    captions = read_references(shared / "data/coco/captions_val2017.json")
    draw = random.Random(0)
    ids = draw.sample([i for i in sorted(captions) if objects.get(i)], images)
    others = sorted(set(captions).difference(ids))
    vocabulary = [word for i in others for text in captions[i] for word in content_words(text)]
    known = {pair for i in others for text in captions[i] for pair in word_pairs(text)}
    scorer = VifidelPRF(objects)

    def faithful(texts: list[str], of: list[int]) -> np.ndarray:
        references = [captions[i][1:] for i in of]
        return scorer.evaluate(make_rows(texts, of, references))["VIFIDEL-F"].scores

    def fluent(texts: list[str], of: list[int]) -> np.ndarray:
        shares = [np.mean([pair in known for pair in word_pairs(text)] or [0.0]) for text in texts]
        return faithful(texts, of) * np.minimum(1.0, np.array(shares) / ENOUGH)

    for name, reward in (("F", faithful), ("F and fluency", fluent)):
        people = reward([captions[i][0] for i in ids], ids)
        texts, found = searched(reward, ids, vocabulary, queries // TEXTS)
        print(f"{name}: people {people.mean():.3f}, search {found.mean():.3f}")
        print("\n".join(texts[:5]))


def searched(
    reward: Callable[[list[str], list[int]], np.ndarray],
    ids: list[int],
    vocabulary: list[str],
    rounds: int,
) -> tuple[list[str], np.ndarray]:
    """Return the best text of each image that the search finds, and its reward."""
    draw = random.Random(1)
    best: list[list[str]] = [[] for _ in ids]
    found = np.zeros(len(ids))
    for _ in range(rounds):
        tried = [[changed(words, vocabulary, draw) for _ in range(TEXTS)] for words in best]
        texts = [" ".join(words) for of_image in tried for words in of_image]
        scores = reward(texts, [i for i in ids for _ in range(TEXTS)]).reshape(-1, TEXTS)
        for at, highest in enumerate(scores.argmax(axis=1)):
            if scores[at, highest] > found[at]:
                best[at], found[at] = tried[at][highest], scores[at, highest]
    return [" ".join(words) for words in best], found


if __name__ == "__main__":
    main()
