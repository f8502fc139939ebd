"""Ablation of VIFIDEL-PRF and VIFIDEL-H: what each constant, rule and list is good for.

    python benchmarks/ablation.py SHARED [--only prf|h] [--row TEXT] [--draws N] [--images N]

SHARED/data holds what ``descriptions.py`` and ``wording.py`` read. Each row takes one thing out of
the definition, or puts a plainer one in its place, by replacing a constant or function of the
package while its scorers run. What then stays the same everywhere has no business in it. Printed of
VIFIDEL-PRF are agreement with people, as `fidelity_choices.agreement` has it (CF of Flickr8k is
held back); how often F is right on captions of ``data/wrong_captions``, the mean over the kinds of
SugarCrepe, VALSE and NegCLIP; and which targets of ``descriptions.py`` no longer hold, with their
worst values. Of VIFIDEL-H: the planted words of nocaps-FOIL that it finds, how often a flag there
is right, average precision of its T, and mentions that it flags in people's own captions of
val2017, of a thousand, from objects and from references alone. docs/experiments.md shows it.

It takes some ten minutes.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import click
import numpy as np
from descriptions import Made, made_texts, properties, ways, worst, worst_ways
from fidelity_choices import FIGURES, Data, agreement, average_precision, flagged, judge_entries
from tabulate import tabulate
from wording import pairs_of

from vifidel_eval.annotations import ObjectLabels
from vifidel_eval.captions.rows import make_rows
from vifidel_eval.kernels import claim_evidence, claims, fidelity, grounding, known
from vifidel_eval.plugins.agreement.judgements import Judged
from vifidel_eval.scorers import VifidelH, VifidelPRF
from vifidel_eval.words import mentions, vocabulary
from vifidel_eval.words.content_words import content_words
from vifidel_eval.words.synonyms import ClassList, Kinds

SHOWN = ("HM", "PASCAL", "Expert", "THumB F", "all F", "HAT", "FOIL P", "FOIL F")
WRONG = ("sugarcrepe", "valse", "negclip")
NONE: frozenset[str] = frozenset()

# What is replaced: where, by name, by what.
Patch = tuple[Any, str, Any]


def constants(**values: float) -> list[Patch]:
    return [(fidelity, f"_{name}", value) for name, value in values.items()]


def linear(words: Any, support: Any, weights: Any, mentions_things: Any) -> np.ndarray:
    """P in which unsupported weight counts as it is."""
    of_rows = [
        np.bincount(words.owners, weights * share, len(words)) for share in (support, 1 - support)
    ]
    total = sum(of_rows)
    none = np.where(mentions_things, 0.5, 0.0)
    share = np.divide(of_rows[0], total, out=none, where=total > 0)
    return np.where(total > 0, np.maximum(0.01, share), share)


def without_agreement(
    said: Any, shares: np.ndarray, rarities: np.ndarray, reached: np.ndarray
) -> np.ndarray:
    weights, size = shares * rarities, len(said)
    with np.errstate(invalid="ignore"):
        return np.bincount(said.owners, weights * reached, size) / np.bincount(
            said.owners, weights, size
        )


_cosines = claims._cosines


def hardly_near(*given: Any) -> np.ndarray:
    """No evidence is near enough to lessen doubt; in ties, the nearer one still counts more."""
    return 1e-9 * _cosines(*given)


_standings = mentions.standings


def undenied(words: Any) -> dict[int, Any]:
    """Return what is not claimed, without what is denied."""
    of_words = _standings(words)
    return {at: it for at, it in of_words.items() if it is mentions.Standing.NOT_CLAIMED}


class _Same(dict[str, float]):
    def __missing__(self, word: str) -> float:
        return 1.0


PRF: dict[str, list[Patch]] = {
    "as it is": [],
    "other words weigh 1": constants(OTHER=1.0),
    "only things count": constants(OTHER=0.0),
    "references deny fully": constants(DOUBTED=1e-9),
    "references never deny": constants(DOUBTED=1e9),
    "doubt, whatever is near": [(claims, "_cosines", hardly_near)],
    "no factor of inventions": constants(INVENTION=0.0),
    "factor of inventions .2": constants(INVENTION=0.2),
    "factor of inventions .3": constants(INVENTION=0.3),
    "inventions as sure as they are doubted": constants(AGREED=1),
    "the fourth power of doubt in K": constants(AGREED=4),
    "all of P counts in F": constants(UNHEARD=0.0),
    "P and R may be 0 in F": constants(LOWEST=0.0),
    "P of nothing known is 1": constants(NOT_KNOWN=1.0),
    "no wording": constants(WORDING=0.0),
    "wording to the power of .05": constants(WORDING=0.05),
    "wording of the whole text": [(fidelity, "sentence_places", lambda text: [(0, len(text))])],
    "unsupported weight as it is": [(fidelity, "fidelity", linear)],
    "labels support no words of their class": [
        (claims, "_supports", lambda near, _, denied: np.where(denied, 0.0, near))
    ],
    "denied words keep their support": [
        (claims, "_supports", lambda near, named, _: np.where(named, 1.0, near))
    ],
    "inventions cover": [(claims, "_reached_by", lambda *given: given[-1].of_right)],
    "no rarity in R": [(claim_evidence, "rarity", _Same())],
    "no agreement in R": [(fidelity, "coverage_of_references", without_agreement)],
    "prose counts": [(claims, "sentences_that_claim", lambda words, *given: [True] * len(words))],
    "no kinds": [(Kinds, "above", lambda *given: ()), (Kinds, "upward", lambda _, c: {c})],
    "stuff is things": [(ClassList, "things", property(lambda self: self))],
    "denials are not understood": [(mentions, "standings", undenied)],
    "wrong denials are free": [(known.KnownImage, "contradicts", lambda *given: None)],
    "verbs are things": [(mentions, "is_verb", lambda *given, **more: False)],
    "describing names are things": [(vocabulary, "DESCRIBING", NONE)],
}
# Rules of which each makes little difference, all at once.
PRF["together: labels support no words, inventions cover, no agreement in R"] = [
    *PRF["labels support no words of their class"],
    *PRF["inventions cover"],
    *PRF["no agreement in R"],
]
H: dict[str, list[Patch]] = {
    "as it is": [],
    "support from .3 on": [(sys.modules[__name__], "VifidelH", partial(VifidelH, support=0.3))],
    "support from .5 on": [(sys.modules[__name__], "VifidelH", partial(VifidelH, support=0.5))],
    "what shares a word supports": [(grounding, "only_alike", lambda *given: [])],
    "one reference contradicts denials": [(known, "_HALF", 1e-9)],
    **{
        name: PRF[name]
        for name in (
            "no kinds",
            "denials are not understood",
            "verbs are things",
            "describing names are things",
        )
    },
}


@contextmanager
def patched(patches: Sequence[Patch]) -> Iterator[None]:
    """Replace what a row says; what was read before is read again."""
    with ExitStack() as stack:
        for patch in patches:
            stack.enter_context(mock.patch.object(*patch))
        _read_again()
        yield
    _read_again()


def _read_again() -> None:
    for cache in (mentions.finder_of, known.names_of_list):
        cache.cache_clear()
    fidelity._words_of_text.clear()


class Sets:
    """What every row is measured on."""

    def __init__(self, data: Path, draws: int, images: int) -> None:
        self.data = data
        self.judged = Data(data, draws, images)
        self.made: list[tuple[Made, bool, str]] = made_texts(data, images)
        self.objects: ObjectLabels = self.made[0][0].objects
        self.wrong: list[tuple[str, Judged]] = [
            pair for name in WRONG for pair in pairs_of(data / f"wrong_captions/{name}.json")
        ]
        own = json.loads((data / "coco/captions_val2017.json").read_text())["annotations"]
        captions: dict[int, list[str]] = {}
        for entry in own:
            captions.setdefault(entry["image_id"], []).append(entry["caption"])
        known = [i for i in sorted(captions) if self.objects.get(i)]
        self.people = {i: captions[i] for i in random.Random(0).sample(known, 1000)}

    def right(self) -> float:
        """Return how often F prefers the correct caption, the mean over kinds."""
        scorer = VifidelPRF(self.objects)
        ids = [pair.image_id for _, pair in self.wrong]
        references = [list(pair.references) for _, pair in self.wrong]
        correct, wrong = (
            scorer.score([pair.captions[side] for _, pair in self.wrong], image_ids=ids,
                         references=references)
            for side in (0, 1)
        )  # fmt: skip
        higher = (correct - wrong).round(10)
        found = np.where(higher == 0, 0.5, higher > 0)
        kinds = np.array([kind for kind, _ in self.wrong])
        return float(np.mean([found[kinds == kind].mean() for kind in dict.fromkeys(kinds)]))

    def of_people(self, references: bool) -> float:
        """Return how many mentions of people's captions are flagged, of a thousand."""
        scorer = VifidelH(None if references else self.objects, references=references)
        own = [captions[0] for captions in self.people.values()]
        others = [captions[1:] for captions in self.people.values()]
        rows = make_rows(own, None if references else list(self.people), others)
        return 1000 * scorer.evaluate(rows)["VIFIDEL-Hi"].score


def of_prf(sets: Sets) -> Mapping[str, Any]:
    """Return the row of VIFIDEL-PRF."""
    figures = dict(zip(FIGURES, agreement(sets.judged), strict=True))
    targets = worst(*properties(sets.made)) | worst_ways(ways(sets.data, "llava_1"))
    missed = [
        f"{name}: {found:.3f}"
        for name, (asked, found) in targets.items()
        if (found > asked if "at most" in name else found < asked - 1e-9)
    ]
    shown = {name: figures[name] for name in SHOWN}
    return {**shown, "wrong captions": sets.right(), "targets missed": "; ".join(missed)}


def of_h(sets: Sets) -> Mapping[str, Any]:
    """Return the row of VIFIDEL-H."""
    scorer, foil = VifidelH(), sets.judged.foil
    correct, planted = (judge_entries(scorer, foil, key) for key in ("baseline", "foil"))
    words = [set(content_words(x["replacement"][1])) for x in foil]
    hits = [
        any(words_of & set(content_words(m["words"], ())) for m in flagged(found))
        for found, words_of in zip(planted, words, strict=True)
    ]
    flags = sum(len(flagged(found)) for found in (*correct, *planted))
    sides = ([entry[key] for entry in foil] for key in ("baseline", "foil"))
    said = [entry["references"] for entry in foil]
    columns = [scorer.score_columns(captions, references=said) for captions in sides]
    means = np.concatenate([of_side["VIFIDEL-T"] for of_side in columns])
    defined = ~np.isnan(means)
    is_planted = np.repeat([False, True], len(foil))
    return {
        "planted words found": float(np.mean(hits)),
        "flags that are right": sum(hits) / flags,
        "AP of T": average_precision(-means[defined], is_planted[defined]),
        "people, objects": sets.of_people(False),
        "people, references": sets.of_people(True),
    }


TABLES: dict[str, tuple[dict[str, list[Patch]], Callable[[Sets], Mapping[str, Any]]]] = {
    "prf": (PRF, of_prf),
    "h": (H, of_h),
}


@click.command()
@click.argument("shared", type=click.Path(exists=True, path_type=Path))
@click.option("--only", type=click.Choice(list(TABLES)), help="One metric.")
@click.option("--row", default="", help="Rows whose names have this.")
@click.option("--draws", default=1, show_default=True, help="Draws of PASCAL-50S's references.")
@click.option("--images", default=100, show_default=True, help="Images of val2017.")
def main(shared: Path, only: str | None, row: str, draws: int, images: int) -> None:
    """Print both tables from the data below SHARED, row by row."""
    sets = Sets(shared / "data", draws, images)
    for metric, (rows, measured) in TABLES.items():
        if only not in (None, metric):
            continue
        found = []
        for name, patches in rows.items():
            if row in name:
                with patched(patches):
                    found.append({"": name, **measured(sets)})
                print(f"{name}: {list(found[-1].values())[1:]}", flush=True)
        print("\n" + tabulate(found, "keys", "github", floatfmt=".3f") + "\n", flush=True)


if __name__ == "__main__":
    main()
