"""Figures of VIFIDEL-PRF and VIFIDEL-H on people's judgements.

    python benchmarks/fidelity_choices.py DATA [--images N] [--draws N] [--only prf|things]

DATA holds the folders ``pascal50s``, ``flickr8k``, ``hat``, ``nocaps_foil``, ``thumb`` and ``coco``
in their data sets' own formats. docs/experiments.md holds the tables
that this prints. ``ablation.py`` and ``descriptions.py`` take the data sets and agreement with
people from here.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy import stats
from tabulate import tabulate

from vifidel_eval.annotations import COCO_CATEGORIES, read_objects
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.captions.rows import make_rows
from vifidel_eval.kernels.lexicon import Lexicon
from vifidel_eval.plugins.agreement.flickr8k import read_flickr8k
from vifidel_eval.plugins.agreement.judgements import drawn
from vifidel_eval.plugins.agreement.readers import read_pascal50s
from vifidel_eval.scorers import VifidelH, VifidelPRF
from vifidel_eval.words.content_words import STOP_WORDS, content_words
from vifidel_eval.words.english import singular
from vifidel_eval.words.synonyms import ClassList, class_names
from vifidel_eval.words.word_vectors import load_vectors

INVENTED = " A dog and a cat are sitting on a couch."
STYLE = " The composition feels warm and captures an everyday moment."
ROOM = "a man and a woman in a room with a table"
#: What `agreement` returns.
FIGURES = "HC,HI,HM,MM,PASCAL,Expert,THumB P,THumB F,all P,all F,HAT,FOIL P,FOIL F".split(",")
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)

_lexicon = Lexicon(load_vectors(), normalize=True, stop_words=STOP_WORDS, capacity=1 << 17)


@lru_cache(None)
def vector(word: str) -> np.ndarray:
    """Return the unit vector of a word or a label of several words; zeros if it has none."""
    return np.nan_to_num(_lexicon.matrix[_lexicon.numbers([word])[0]])


@lru_cache(None)
def names_thing(word: str) -> bool:
    names = class_names().class_of
    return word in names or singular(word) in names


# ---------------------------------------------------------------- VIFIDEL-PRF


@dataclass(frozen=True)
class Item:
    """A caption with its evidence."""

    caption: str
    references: tuple[str, ...]
    labels: tuple[str, ...] = ()


def prf(items: Iterable[Item]) -> np.ndarray:
    """Return P, R and F of each item, (n, 3)."""
    items = list(items)
    # One source of all labels, whose classes are those that were looked for.
    labels = {n: list(item.labels) for n, item in enumerate(items)}
    columns = VifidelPRF(labels if any(labels.values()) else None).score_columns(
        [item.caption for item in items],
        image_ids=list(labels),
        references=[item.references for item in items],
    )
    return np.column_stack(list(columns.values()))


# ---------------------------------------------------------------- data


def average_precision(scores: np.ndarray, positive: np.ndarray) -> float:
    """Return the mean precision over positives, the highest score first; ties together."""
    order = np.argsort(-scores, kind="stable")
    scores, positive = scores[order], positive[order].astype(float)
    last = np.append(scores[1:] != scores[:-1], True)
    found = np.cumsum(positive)[last]
    precision = found / (np.flatnonzero(last) + 1)
    return float((np.diff(found, prepend=0) / positive.sum() * precision).sum())


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def _json_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


class Data:
    """The data sets, as items and judgements."""

    def __init__(self, folder: Path, draws: int, images: int) -> None:
        choices = read_pascal50s(folder / "pascal50s")
        objects = read_objects(folder / "pascal50s/Annotations")
        self.kinds, self.preferred = np.array(choices.kinds), choices.preferred
        references = [drawn(choices.judged, 5, 0, draw) for draw in range(draws)]
        self.pascal = [
            [
                [
                    Item(j.captions[side], tuple(of[at]), tuple(objects[j.image_id]))
                    for at, j in enumerate(choices.judged)
                ]
                for side in (0, 1)
            ]
            for of in references
        ]
        ratings = read_flickr8k(folder / "flickr8k")
        mask = ratings.subsets["without own references"]
        judged = [j for j, kept in zip(ratings.judged, mask, strict=True) if kept]
        self.flickr = [Item(j.captions[0], tuple(j.others(j.references))) for j in judged]
        self.experts = ratings.ratings["expert"][mask]
        thumb = _json_lines(folder / "thumb/mscoco_THumB-1.0.jsonl")
        of_image = {
            x["seg_id"]: x["refs"] for x in _json_lines(folder / "thumb/mscoco_references.json")
        }
        self.thumb = [
            Item(
                x["hyp"],
                tuple(r for r in of_image[x["seg_id"]] if _plain(r) != _plain(x["hyp"])),
            )
            for x in thumb
        ]
        self.thumb_p = np.array([x["P"] for x in thumb])
        self.thumb_total = np.array([x["human_score"] for x in thumb])
        self.machine = np.array(["human" not in x["SYS"].lower() for x in thumb])
        self.hat = json.loads((folder / "hat/hat.json").read_text())
        self.foil = json.loads((folder / "nocaps_foil/nocaps-val-foil.json").read_text())
        self.objects = read_objects(folder / "coco/instances_val2017.json")
        self.references = read_references(folder / "coco/captions_val2017_references.json")
        self.human, self.shuffled = (
            read_results(folder / f"coco/captions_val2017_{name}_results.json")
            for name in ("human", "shuffled")
        )
        known = [i for i in sorted(self.human) if self.objects.get(i)]
        self.images = known[:: max(1, len(known) // images)]


# ---------------------------------------------------------------- tables


def agreement(data: Data, scores: Callable[[Iterable[Item]], np.ndarray] = prf) -> list[float]:
    """Return the figures of `FIGURES`."""
    right: dict[str, list[float]] = {"HC": [], "HI": [], "HM": [], "MM": []}
    for first, second in data.pascal:
        difference = scores(first)[:, 2].round(10) - scores(second)[:, 2].round(10)
        agrees = np.sign(difference) * data.preferred
        for kind, found in right.items():
            of_kind = agrees[(data.kinds == kind) & (data.preferred != 0) & ~np.isnan(agrees)]
            found.append(np.where(of_kind == 0, 0.5, of_kind > 0).mean())
    pascal = [float(np.mean(found)) for found in right.values()]
    flickr = np.repeat(scores(data.flickr)[:, 2], data.experts.shape[1])
    tau = stats.kendalltau(flickr, data.experts.ravel(), variant="c").statistic
    thumb = scores(data.thumb)
    everyone = np.ones_like(data.machine)
    pearson = [
        np.corrcoef(thumb[of, column], judged[of])[0, 1]
        for of in (data.machine, everyone)
        for column, judged in ((0, data.thumb_p), (2, data.thumb_total))
    ]
    hat = scores([Item(x["caption"], tuple(x["references"])) for x in data.hat])
    made_up = np.array([x["contains_hallucination"] for x in data.hat])
    foil = [
        scores([Item(x[key], tuple(x["references"])) for x in data.foil])
        for key in ("baseline", "foil")
    ]
    planted = np.repeat([False, True], len(data.foil))
    return [
        *pascal,
        float(np.mean(pascal)),
        tau,
        *pearson,
        average_precision(-hat[:, 2], made_up),
        average_precision(-np.concatenate(foil)[:, 0], planted),
        average_precision(-np.concatenate(foil)[:, 2], planted),
    ]


def rankings(data: Data, references: bool) -> list[list[Any]]:
    rows = []
    human = None
    for name, caption_of in {
        "people": lambda i: data.human[i],
        "people + an invented sentence": lambda i: data.human[i].rstrip(" .") + "." + INVENTED,
        "people + a sentence on style": lambda i: data.human[i].rstrip(" .") + "." + STYLE,
        "the labels of the image": lambda i: " ".join(sorted(data.objects[i])),
        ROOM: lambda i: ROOM,
        "captions of other images": lambda i: data.shuffled[i],
        "person": lambda i: "person",
    }.items():
        found = prf(
            Item(
                caption_of(i),
                tuple(data.references[i]) if references else (),
                tuple(data.objects[i]),
            )
            for i in data.images
        )
        human = found[:, 2] if human is None else human
        beaten = np.where(human == found[:, 2], 0.5, human > found[:, 2]).mean()
        rows.append([name, *found.mean(axis=0), beaten if name != "people" else None])
    return rows


def judge(
    scorer: VifidelH,
    captions: Sequence[str],
    references: Sequence[Sequence[str]],
    ids: Sequence[Any] | None = None,
) -> list[list[dict[str, Any]]]:
    """Return the mentions of each caption, as VIFIDEL-H writes them into ``--output``."""
    evaluation = scorer.evaluate(make_rows(captions, ids, references))["VIFIDEL-T"]
    return [of_row["mentions"] for of_row in evaluation.details["VIFIDEL-H"]]


def judge_entries(
    scorer: VifidelH, entries: Sequence[Mapping[str, Any]], key: str
) -> list[list[dict[str, Any]]]:
    return judge(scorer, [x[key] for x in entries], [x["references"] for x in entries])


def flagged(mentions: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [mention for mention in mentions if mention["verdict"] == "made up"]


def near_names(data: Data, guard: bool) -> ClassList:
    """Return the object vocabulary with every word that has a cosine of .8 to a name.

    With `guard`, not those that only begin like the name: *caring* is no car.
    """
    things = class_names()
    names = [name for name in things.class_of if vector(name).any()]
    of_names = np.array([vector(name) for name in names])
    texts = [x[key] for x in data.foil for key in ("baseline", "foil")]
    texts += [x["caption"] for x in data.hat]
    texts += [reference for x in (*data.foil, *data.hat) for reference in x["references"]]
    more: dict[str, list[str]] = {}
    for word in sorted({word for text in texts for word in content_words(text)}):
        if not names_thing(word) and word not in things.no_class:
            alike = of_names @ vector(word)
            nearest = names[int(alike.argmax())]
            if alike.max() >= 0.8 and not (guard and _begin_alike(word, nearest)):
                more.setdefault(things.class_of[nearest], []).append(word)
    classes = tuple((*names, *more.get(names[0], ())) for names in things.classes)
    return replace(things, classes=classes)


def _begin_alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    rest = long.removeprefix(short)
    return rest != long and rest.isalpha() and rest not in ("s", "es")


def _marked(pairs: Iterable[tuple[str, bool]]) -> set[str]:
    return {word for token, marked in pairs if marked for word in content_words(token)}


def _planted(data: Data) -> list[set[str]]:
    return [_marked([(x["replacement"][1], True)]) for x in data.foil]


def localization(things: ClassList | None, data: Data) -> list[float]:
    """Return localisation on nocaps-FOIL and HAT, and average precision of the mean support."""
    scorer = VifidelPRF() if things is None else VifidelH(only_things=things)

    def supports(
        items: Sequence[Mapping[str, Any]], key: str
    ) -> list[list[tuple[set[str], float]]]:
        rows = make_rows([x[key] for x in items], references=[x["references"] for x in items])
        return [
            [
                (set(content_words(word.word, ())), word.support)
                for word in of_row
                if word.is_thing or things is None
            ]
            for of_row in scorer.word_supports(rows)
        ]

    def hits(found: list[tuple[set[str], float]], marked: set[str]) -> float:
        lowest = [bool(words & marked) for words, s in found if s == min(s for _, s in found)]
        return float(np.mean(lowest)) if lowest else 0.0

    correct, foil = (supports(data.foil, key) for key in ("baseline", "foil"))
    of_hat = [x for x in data.hat if x["contains_hallucination"]]
    hat = zip(supports(of_hat, "caption"), of_hat, strict=True)
    means = np.array([np.mean([s for _, s in of] or [np.nan]) for of in (*correct, *foil)])
    planted, defined = np.repeat([False, True], len(data.foil)), ~np.isnan(means)
    return [
        float(np.mean([hits(*pair) for pair in zip(foil, _planted(data), strict=True)])),
        average_precision(-means[defined], planted[defined]),
        float(defined.mean()),
        float(np.mean([hits(found, _marked(x["grounding"])) for found, x in hat])),
    ]


def thresholds(data: Data, things: ClassList) -> list[list[float]]:
    made_up = np.array([x["contains_hallucination"] for x in data.hat])
    rows = []
    for t in THRESHOLDS:
        scorer = VifidelH(only_things=things, support=t)
        correct, planted = (
            list(map(flagged, judge_entries(scorer, data.foil, key)))
            for key in ("baseline", "foil")
        )
        hit = [
            any(marked & set(content_words(m["words"], ())) for m in found)
            for found, marked in zip(planted, _planted(data), strict=True)
        ]
        hat = judge_entries(scorer, data.hat, "caption")
        of_hat = np.array([bool(flagged(found)) for found in hat])
        rows.append(
            [
                t,
                np.mean([bool(f) for f in correct]),
                np.mean([bool(f) for f in planted]),
                np.mean(hit),
                sum(hit) / max(1, sum(map(len, correct)) + sum(map(len, planted))),
                (of_hat & made_up).sum() / max(1, of_hat.sum()),
                (of_hat & made_up).sum() / made_up.sum(),
            ]
        )
        scorer = VifidelH(data.objects, only_things=things, support=t)
        references = [data.references[i] for i in data.images]
        for system in (data.human, data.shuffled):
            captions = [system[i] for i in data.images]
            found = scorer.evaluate(make_rows(captions, data.images, references))
            rows[-1] += [found["VIFIDEL-Hs"].score, found["VIFIDEL-Hi"].score]
    return rows


def objects_only(data: Data) -> list[list[Any]]:
    """Return verdicts without references: only COCO's 80 categories can be absent."""
    rows = []
    for name, system in (("people", data.human), ("other images", data.shuffled)):
        found = VifidelH(data.objects, references=False).evaluate(
            make_rows([system[i] for i in data.images], data.images)
        )
        mentions = [m for x in found["VIFIDEL-T"].details["VIFIDEL-H"] for m in x["mentions"]]
        words = Counter(m["words"] for m in flagged(mentions))
        most = ", ".join(f"{word} {n}" for word, n in words.most_common(8))
        unconfirmed = sum(m["verdict"] == "unconfirmed" for m in mentions) / len(mentions)
        hs, hi = (found[column].score for column in ("VIFIDEL-Hs", "VIFIDEL-Hi"))
        rows.append([name, hs, hi, unconfirmed, most])
    return rows


def unsupported_names(data: Data) -> str:
    """Return what is not there in people's references, each judged against the others."""
    said: Counter[str] = Counter()
    without: Counter[str] = Counter()
    scorer = VifidelH(data.objects)
    for at in range(min(len(data.references[i]) for i in data.images)):
        of = [data.references[i] for i in data.images]
        own = [references[at] for references in of]
        others = [[*references[:at], *references[at + 1 :]] for references in of]
        for mentions in judge(scorer, own, others, data.images):
            said.update(m["words"] for m in mentions)
            without.update(m["words"] for m in flagged(mentions))
    return ", ".join(f"{name} {n}/{said[name]}" for name, n in without.most_common(40))


CASES = [
    ("Two hot dogs on a plate", ["hot dog"], "COCO"),
    ("A dog on a plate", ["hot dog"], "COCO"),
    ("People on a sofa with a puppy", ["oven", "sink"], "COCO"),
    ("A bike next to a monitor", ["oven", "sink"], "COCO"),
    ("People on a sofa with a puppy", ["person", "couch", "dog"], "COCO"),
    ("A bike next to a monitor", ["bicycle", "tv"], "COCO"),
    ("Two kids, children or men and a woman", ["person"], "COCO"),
    ("An apple, an umbrella and a person", ["oven", "sink"], "COCO"),
    ("A fire hydrant under a traffic light", ["car", "truck"], "COCO"),
    ("a dog on a couch", ["oven", "sink", "refrigerator"], "labels file"),
    ("a plate on the counter", ["oven", "sink", "refrigerator"], "COCO"),
    ("An orange cat can watch the train station", ["cat"], "COCO"),
]


def cases() -> list[list[str]]:
    number = {name: i for i, name in COCO_CATEGORIES.items()}
    categories = [{"id": i, "name": name} for i, name in COCO_CATEGORIES.items()]
    rows = []
    for caption, labels, source in CASES:
        coco = {
            "images": [{"id": 1}],
            "annotations": [{"image_id": 1, "category_id": number[label]} for label in labels],
            "categories": categories,
        }
        scorer = VifidelH(coco if source == "COCO" else {1: labels}, references=False)
        [mentions] = judge(scorer, [caption], [()], [1])
        texts = [f"{m['words']}: {m['verdict']} ({m['support']:.2f})" for m in mentions]
        rows.append([caption, ", ".join(labels), source, "; ".join(texts)])
    return rows


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--images", default=800, show_default=True, help="About how many of val2017.")
@click.option("--draws", default=5, show_default=True, help="Of PASCAL-50S's references.")
@click.option("--only", type=click.Choice(["prf", "things"]))
def main(folder: Path, images: int, draws: int, only: str | None) -> None:
    """Print the tables of docs/experiments.md from the data sets in FOLDER."""
    data = Data(folder, draws, images)

    def show(title: str, headers: list[str], rows: Iterable[list[Any]]) -> None:
        print(f"\n{title}\n", flush=True)
        print(tabulate(list(rows), headers, "github", floatfmt=".3f"), flush=True)

    if only != "things":
        for references in (True, False):
            how = "with" if references else "without"
            headers = ["captions", "P", "R", "F", "people score higher"]
            show(f"val2017, {how} references", headers, rankings(data, references))
    if only != "prf":
        things = class_names()
        lists = {
            "all content words": None,
            "names of the list (chosen)": things,
            "or a cosine of .8 to one": near_names(data, guard=True),
            "the same, beginnings alike too": near_names(data, guard=False),
            "names of COCO's 80": ClassList("coco", tuple((n,) for n in COCO_CATEGORIES.values())),
        }
        apart = replace(things, classes=tuple((name,) for name in things.class_of))
        headers = [
            "words judged",
            "FOIL localisation",
            "FOIL AP of the mean support",
            "defined",
            "HAT",
        ]
        rows = ([name, *localization(names, data)] for name, names in lists.items())
        show("Which words are judged", headers, rows)
        headers = ["t", "FOIL correct", "planted", "word found", "precision", "HAT precision"]
        headers += ["HAT recall", "people Hs", "people Hi", "shuffled Hs", "shuffled Hi"]
        show("Thresholds", headers, thresholds(data, things))
        show("Thresholds, classes excuse nothing", headers, thresholds(data, apart))
        headers = ["captions", "Hs", "Hi", "mentions unconfirmed", "flagged most"]
        show("val2017, gold objects, no references", headers, objects_only(data))
        print(f"\nUnsupported in people's captions: {unsupported_names(data)}")
        show("Cases", ["caption", "objects", "source", "verdicts"], cases())


if __name__ == "__main__":
    main()
