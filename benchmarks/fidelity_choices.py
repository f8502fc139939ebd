"""What was tried for VIFIDEL-PRF and VIFIDEL-H, measured on people's judgements.

    python benchmarks/fidelity_choices.py DATA [--images N] [--draws N] [--only prf|things]

DATA holds the folders ``pascal50s``, ``flickr8k``, ``hat``, ``nocaps_foil``, ``thumb`` and ``coco``
in their data sets' own formats. docs/fidelity.md holds the tables that this prints and says what
follows from them. A plain loop over captions, not the kernel: it is here to compare definitions.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from scipy import stats
from tabulate import tabulate

from vifidel_eval.agreement.flickr8k import read_flickr8k
from vifidel_eval.agreement.pascal50s import read_pascal50s
from vifidel_eval.agreement.trials import _drawn
from vifidel_eval.annotations import read_objects
from vifidel_eval.bags import Lexicon
from vifidel_eval.captions import read_references, read_results
from vifidel_eval.grounding import _begin_alike
from vifidel_eval.vectors import load_vectors
from vifidel_eval.words import END, STOP_WORDS, content_words, piece_runs, pieces

INVENTED = " A dog and a cat are sitting on a couch."
STYLE = " The composition feels warm and captures an everyday moment."
ROOM = "a man and a woman in a room with a table"
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)

_lexicon = Lexicon(load_vectors(), normalize=True, stop_words=STOP_WORDS)


@lru_cache(None)
def vector(word: str) -> np.ndarray:
    """Return the unit vector of a word or a label of several words; zeros if it has none."""
    return np.nan_to_num(_lexicon._rows([word])[0])


@lru_cache(None)
def cosines(left: tuple[str, ...], right: tuple[str, ...]) -> np.ndarray:
    if not left or not right:
        return np.zeros((len(left), len(right)))
    found = np.array([vector(w) for w in left]) @ np.array([vector(w) for w in right]).T
    return np.where(np.array(left)[:, None] == np.array(right)[None, :], 1.0, found)


# ---------------------------------------------------------------- names of things

_IRREGULAR = {
    "men": "man", "women": "woman", "people": "person", "persons": "person", "feet": "foot",
    "children": "child", "mice": "mouse", "geese": "goose", "teeth": "tooth", "oxen": "ox",
    "policemen": "policeman", "calves": "calf",
}  # fmt: skip
#: Names that describe the word behind them: an orange cat, a toy train, a passenger jet.
_DESCRIBING = frozenset(
    "orange baby toy paper passenger adult glass peach rose olive lime chocolate lemon "
    "double-decker".split()
)
#: Classes of which one never supports the other, though their words are alike.
_APART = frozenset({frozenset({"dog", "hot dog"})})


def forms(word: str) -> Iterable[str]:
    """Yield a word and what it may be the plural of."""
    yield word
    if word in _IRREGULAR:
        yield _IRREGULAR[word]
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        yield word[:-1]
        if word.endswith("es"):
            yield word[:-2]
        if word.endswith("ies"):
            yield word[:-3] + "y"
        if word.endswith("ves"):
            yield from (word[:-3] + "f", word[:-3] + "fe")


class Unit(NamedTuple):
    """A content word, or the words of a name of several words."""

    words: tuple[str, ...]
    text: str  # what has the vector
    name: str | None  # of the list, if the unit is a mention
    at: int  # place of its first word in the caption


class Things:
    """The list of things, and where captions mention them."""

    def __init__(self, lines: Iterable[str], near: bool = False, guard: bool = True) -> None:
        self.class_of: dict[str, str] = {}
        self.no_mention: set[str] = set()
        self.guard = guard
        for line in map(str.strip, lines):
            names = [name.strip() for name in line.removeprefix("-").split(",")]
            if line.startswith("-"):
                self.no_mention.update(names)
            elif line and not line.startswith("#"):
                self.class_of |= dict.fromkeys(names, names[0])
        self._terms: dict[str, list[tuple[list[str], str]]] = {}
        for name in sorted({*self.class_of, *self.no_mention}, key=len, reverse=True):
            words = [w for part in name.split() for w in piece_runs(part)]
            if len(words) > 1:
                self._terms.setdefault(words[0], []).append((words, name))
        self._units = lru_cache(None)(self._found)
        self._name = lru_cache(None)(self._named)
        self._names = list(self.class_of)
        self._vectors = np.array([vector(name) for name in self._names]) if near else None

    def units(self, caption: str) -> tuple[Unit, ...]:
        return self._units(caption)

    def _found(self, caption: str) -> tuple[Unit, ...]:
        runs = [run for piece in pieces([caption]) if piece != END for run in piece_runs(piece)]
        found, at = [], 0
        while at < len(runs):
            term = max(self._matching(runs[at:]), key=lambda t: len(t[0]), default=None)
            if term is not None:
                words, name = tuple(runs[at : at + len(term[0])]), term[1]
                found.append(Unit(words, name, name if name in self.class_of else None, at))
                at += len(words)
                continue
            if len(runs[at]) > 1 and runs[at] not in STOP_WORDS:
                found.append(Unit((runs[at],), runs[at], self._name(runs[at]), at))
            at += 1
        return tuple(
            unit._replace(name=None)
            if unit.name in _DESCRIBING and after and after.at == unit.at + len(unit.words)
            else unit
            for unit, after in zip(found, [*found[1:], None], strict=True)
        )

    def _matching(self, runs: list[str]) -> Iterable[tuple[list[str], str]]:
        for first in dict.fromkeys(forms(runs[0])):
            for words, name in self._terms.get(first, ()):
                if len(words) <= len(runs) and all(
                    word in forms(run) for word, run in zip(words[1:], runs[1:], strict=False)
                ):
                    yield words, name

    def _named(self, word: str) -> str | None:
        exact = next((form for form in forms(word) if form in self.class_of), None)
        if exact is not None or self._vectors is None:
            return exact
        alike = self._vectors @ vector(word)
        nearest = self._names[int(alike.argmax())]
        if alike.max() < 0.8 or (self.guard and _begin_alike(word, nearest)):
            return None
        return nearest


def shipped() -> list[str]:
    return files("vifidel_eval").joinpath("things/things.txt").read_text("utf-8").splitlines()


THINGS = Things(shipped())


@lru_cache(None)
def names_thing(word: str) -> bool:
    return THINGS._name(word) is not None


# ---------------------------------------------------------------- VIFIDEL-PRF


@dataclass(frozen=True)
class Item:
    """A caption with its evidence."""

    caption: str
    references: tuple[str, ...]
    labels: tuple[str, ...] = ()


@lru_cache(None)
def _words(caption: str) -> tuple[str, ...]:
    return tuple(word for word in content_words(caption) if vector(word).any())


@lru_cache(None)
def _distinct(caption: str) -> tuple[str, ...]:
    return tuple(sorted(set(_words(caption))))


@dataclass(frozen=True)
class Choice:
    """A definition of P, R and F; the defaults are the chosen one."""

    floor: float = 0.1  # cosines up to here count as 0, the rest is stretched to [0, 1]
    other: float = 0.4  # weight in P of a word that names no thing, if it is fully supported
    unsupported: float = 0.5  # share of that weight which an unsupported one keeps
    distinct: bool = True  # repeated words of the caption count once
    consensus: float = 0.0  # share of the mean over references in a word's support
    agreement: float = 0.5  # exponent of the references' agreement d in R
    cap: bool = False  # R = min(1, c / d^agreement) instead of odds divided by d^agreement
    per_reference: bool = False  # R is the mean over references instead of their union
    power: float = 1.0  # of the mean of supports in P
    form: str = "geometric"
    share_of_p: float = 1 / 3
    whole: float = 0.0  # share of the cosine of whole captions in F
    things: Callable[[str], bool] = names_thing
    without: frozenset[str] = frozenset()  # words left out

    def __call__(self, item: Item) -> tuple[float, float, float]:
        words = _distinct(item.caption) if self.distinct else _words(item.caption)
        words = tuple(w for w in words if w not in self.without)
        references = [_distinct(r) for r in item.references]
        references = [r for r in references if r]
        labels = tuple(label for label in sorted(item.labels) if vector(label).any())
        if not references and not labels:
            return (np.nan,) * 3
        if not words:
            return 0.0, 0.0, 0.0
        shares = Counter(word for reference in references for word in reference)
        said = tuple(sorted(set(shares) - self.without))
        to_said, to_labels = self._near(words, said), self._near(words, labels)
        support = np.zeros(len(words))
        if said:
            support = to_said.max(axis=1)
            if self.consensus:
                each = [self._near(words, r).max(axis=1) for r in references]
                support = (1 - self.consensus) * support + self.consensus * np.mean(each, axis=0)
        if labels:
            support = np.maximum(support, to_labels.max(axis=1))
        kept = self.other * (1 - self.unsupported * (1 - support))
        weights = np.where([self.things(w) for w in words], 1.0, kept)
        p = ((support**self.power * weights).sum() / weights.sum()) ** (1 / self.power)
        if not references:
            r = to_labels.max(axis=0).mean()
        else:
            share = np.array([shares[word] for word in said]) / len(references)
            r = (share * to_said.max(axis=0)).sum() / share.sum()
            if self.per_reference:
                r = np.mean([self._near(words, ref).max(axis=0).mean() for ref in references])
            d = ((share**2).sum() / share.sum()) ** self.agreement
            r = min(1.0, r / d) if self.cap else r / (r + (1 - r) * d) if r else 0.0
        f = self._mean(p, r)
        if self.whole and references:
            alike = np.mean([max(0.0, _whole(words, ref)) for ref in references])
            f = f ** (1 - self.whole) * alike**self.whole
        return float(p), float(r), float(f)

    def _near(self, left: tuple[str, ...], right: tuple[str, ...]) -> np.ndarray:
        return np.maximum(cosines(left, right) - self.floor, 0) / (1 - self.floor)

    def _mean(self, p: float, r: float) -> float:
        if min(p, r) <= 0:
            return 0.0
        if self.form == "harmonic":
            return 1 / (self.share_of_p / p + (1 - self.share_of_p) / r)
        return p**self.share_of_p * r ** (1 - self.share_of_p)


def _whole(left: Sequence[str], right: Sequence[str]) -> float:
    x, y = (sum(vector(w) for w in words) for words in (left, right))
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


PICTURE = frozenset("picture pictures photo photos photograph image shot view shows scene".split())
PROTOTYPE = Choice(0.0, 0.3, 0.0, False, agreement=0.0, form="harmonic", share_of_p=0.5)
TRIED = {
    "first prototype, no weights": replace(PROTOTYPE, other=1.0),
    "first prototype": PROTOTYPE,
    "chosen": Choice(),
    "floor 0": Choice(floor=0.0),
    "floor .05": Choice(floor=0.05),
    "floor .15": Choice(floor=0.15),
    "floor .2": Choice(floor=0.2),
    "others weigh 1": Choice(other=1.0, unsupported=0.0),
    "others .2": Choice(other=0.2),
    "others .3": Choice(other=0.3),
    "others .5": Choice(other=0.5),
    "unsupported others keep all": Choice(unsupported=0.0),
    "unsupported others keep a quarter": Choice(unsupported=0.75),
    "every occurrence": Choice(distinct=False),
    "support: a quarter consensus": Choice(consensus=0.25),
    "support: half consensus": Choice(consensus=0.5),
    "power mean .5 in P": Choice(power=0.5),
    "power mean 2 in P": Choice(power=2.0),
    "R without agreement": Choice(agreement=0.0),
    "R, exponent .25": Choice(agreement=0.25),
    "R, exponent 1": Choice(agreement=1.0),
    "R capped, exponent .5": Choice(cap=True),
    "R mean over references": Choice(per_reference=True),
    "geometric, P .5": Choice(share_of_p=0.5),
    "geometric, P .4": Choice(share_of_p=0.4),
    "geometric, P .3": Choice(share_of_p=0.3),
    "harmonic, P .5": Choice(form="harmonic", share_of_p=0.5),
    "harmonic, P 1/3": Choice(form="harmonic"),
    "whole captions .2 in F": Choice(whole=0.2),
    "without words such as picture": Choice(without=PICTURE),
    "strict: spec's R, floor 0, P .4": Choice(0.0, agreement=0.0, share_of_p=0.4),
}


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
        drawn = [_drawn(choices.judged, 5, np.random.default_rng([0, d])) for d in range(draws)]
        self.pascal = [
            [
                [
                    Item(j.captions[side], tuple(of[at]), tuple(objects[j.image_id]))
                    for at, j in enumerate(choices.judged)
                ]
                for side in (0, 1)
            ]
            for of in drawn
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


def agreement(choice: Choice, data: Data) -> list[float]:
    def scores(items: Sequence[Item]) -> np.ndarray:
        return np.array([choice(item) for item in items])

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


def rankings(choice: Choice, data: Data, references: bool) -> list[list[Any]]:
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
        found = np.array(
            [
                choice(
                    Item(
                        caption_of(i),
                        tuple(data.references[i]) if references else (),
                        tuple(data.objects[i]),
                    )
                )
                for i in data.images
            ]
        )
        human = found[:, 2] if human is None else human
        beaten = np.where(human == found[:, 2], 0.5, human > found[:, 2]).mean()
        rows.append([name, *found.mean(axis=0), beaten if name != "people" else None])
    return rows


class Judged(NamedTuple):
    """A mention with its support."""

    unit: Unit
    support: float  # the best cosine
    grounded: float  # without evidence that only describes the mention: traffic, of a traffic light
    excused: bool  # the evidence has a name of the same class


def judge(
    things: Things, caption: str, references: Sequence[str], labels: Iterable[str] = ()
) -> list[Judged]:
    """Return the mentions of a caption with their support by references and labels."""
    evidence: dict[str, str | None] = {label: things.class_of.get(label) for label in labels}
    for reference in references:
        for unit in things.units(reference):
            evidence[unit.text] = things.class_of.get(unit.name or "")
    found = []
    for unit in things.units(caption):
        if unit.name is None:
            continue
        one = things.class_of[unit.name]
        able = tuple(
            text for text, other in evidence.items() if frozenset({one, other}) not in _APART
        )
        to_evidence = np.maximum(cosines((unit.text,), able)[0], 0)
        describes = np.isin(able, unit.text.split()[:-1])
        found.append(
            Judged(
                unit,
                to_evidence.max(initial=0),
                to_evidence.max(initial=0, where=~describes),
                one in evidence.values(),
            )
        )
    return found


def _marked(pairs: Iterable[tuple[str, bool]]) -> set[str]:
    return {word for token, marked in pairs if marked for word in content_words(token)}


def localization(things: Things | None, data: Data) -> list[float]:
    """Return localisation on nocaps-FOIL and HAT, and average precision of the mean support."""

    def supports(caption: str, references: Sequence[str]) -> list[tuple[set[str], float]]:
        if things is not None:
            return [(set(j.unit.words), j.support) for j in judge(things, caption, references)]
        words = _distinct(caption)
        evidence = tuple(sorted({w for r in references for w in _distinct(r)}))
        return [({w}, s) for w, s in zip(words, cosines(words, evidence).max(axis=1), strict=True)]

    def hits(caption: str, references: Sequence[str], marked: set[str]) -> float:
        found = supports(caption, references)
        lowest = [bool(w & marked) for w, s in found if s == min(s for _, s in found)]
        return float(np.mean(lowest)) if lowest else 0.0

    foil = [hits(x["foil"], x["references"], _marked([(x["replacement"][1], True)]))
            for x in data.foil]  # fmt: skip
    hat = [hits(x["caption"], x["references"], _marked(x["grounding"]))
           for x in data.hat if x["contains_hallucination"]]  # fmt: skip
    means = np.array(
        [
            np.mean([s for _, s in supports(x[key], x["references"])] or [np.nan])
            for key in ("baseline", "foil")
            for x in data.foil
        ]
    )
    planted, defined = np.repeat([False, True], len(data.foil)), ~np.isnan(means)
    return [
        float(np.mean(foil)),
        average_precision(-means[defined], planted[defined]),
        float(defined.mean()),
        float(np.mean(hat)),
    ]


def thresholds(data: Data, excuse: bool) -> list[list[float]]:
    foil = [
        [(judge(THINGS, x[key], x["references"]), _marked([(x["replacement"][1], True)]))
         for x in data.foil]
        for key in ("baseline", "foil")
    ]  # fmt: skip
    hat = [(judge(THINGS, x["caption"], x["references"]), x) for x in data.hat]
    made_up = np.array([x["contains_hallucination"] for x in data.hat])
    val = [
        [judge(THINGS, system[i], data.references[i], data.objects[i]) for i in data.images]
        for system in (data.human, data.shuffled)
    ]
    rows = []
    for t in THRESHOLDS:

        def flagged(found: list[Judged], t: float = t) -> list[Judged]:
            return [j for j in found if j.grounded < t and not (excuse and j.excused)]

        correct, planted = ([flagged(found) for found, _ in side] for side in foil)
        hit = [any(set(j.unit.words) & marked for j in flagged(found)) for found, marked in foil[1]]
        of_hat = np.array([bool(flagged(found)) for found, _ in hat])
        rows.append(
            [
                t,
                np.mean([bool(f) for f in correct]),
                np.mean([bool(f) for f in planted]),
                np.mean(hit),
                sum(hit) / max(1, sum(len(f) for f in correct) + sum(len(f) for f in planted)),
                (of_hat & made_up).sum() / max(1, of_hat.sum()),
                (of_hat & made_up).sum() / made_up.sum(),
            ]
        )
        for system in val:
            some = [flagged(found) for found in system]
            rows[-1] += [
                np.mean([bool(f) for f in some]),
                sum(map(len, some)) / sum(map(len, system)),
            ]
    return rows


def objects_only(data: Data, t: float) -> list[list[Any]]:
    """Return verdicts without references: only COCO's 80 categories can be absent."""
    sought = {THINGS.class_of.get(label, label) for label in data.objects.vocabulary()}
    rows = []
    for name, system in (("people", data.human), ("other images", data.shuffled)):
        mentions = judged = bad = captions = 0
        words: Counter[str] = Counter()
        for i in data.images:
            found = judge(THINGS, system[i], (), data.objects[i])
            of_sought = [j for j in found if THINGS.class_of[j.unit.name or ""] in sought]
            flagged = [j for j in of_sought if j.grounded < t and not j.excused]
            mentions, judged = mentions + len(found), judged + len(of_sought)
            bad, captions = bad + len(flagged), captions + bool(flagged)
            words.update(" ".join(j.unit.words) for j in flagged)
        most = ", ".join(f"{word} {n}" for word, n in words.most_common(8))
        rows.append([name, captions / len(data.images), bad / judged, 1 - judged / mentions, most])
    return rows


def unsupported_names(data: Data, t: float) -> str:
    """Return which names are unsupported in people's references, each against the others."""
    said: Counter[str] = Counter()
    without: Counter[str] = Counter()
    for i in data.images:
        references = data.references[i]
        for at, caption in enumerate(references):
            others = references[:at] + references[at + 1 :]
            for j in judge(THINGS, caption, others, data.objects[i]):
                said[j.unit.name] += 1
                without[j.unit.name] += j.grounded < t and not j.excused
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


def cases(data: Data, t: float) -> list[list[str]]:
    sought = {THINGS.class_of.get(label, label) for label in data.objects.vocabulary()}
    rows = []
    for caption, labels, source in CASES:
        found = judge(THINGS, caption, (), labels)
        said = [(j, THINGS.class_of[j.unit.name or ""] in sought) for j in found]
        texts = [
            f"{' '.join(j.unit.words)}: "
            + ("not judged" if not s else "absent" if j.grounded < t and not j.excused else "there")
            + f" ({j.grounded:.2f})"
            for j, s in said
        ]
        rows.append([caption, ", ".join(labels), source, "; ".join(texts)])
    return rows


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--images", default=800, show_default=True, help="About how many of val2017.")
@click.option("--draws", default=5, show_default=True, help="Of PASCAL-50S's references.")
@click.option("--only", type=click.Choice(["prf", "things"]))
def main(folder: Path, images: int, draws: int, only: str | None) -> None:
    """Print the tables of docs/fidelity.md from the data sets in FOLDER."""
    data = Data(folder, draws, images)

    def show(title: str, headers: list[str], rows: Iterable[list[Any]]) -> None:
        print(f"\n{title}\n", flush=True)
        print(tabulate(list(rows), headers, "github", floatfmt=".3f"), flush=True)

    if only != "things":
        headers = ["definition", "HC", "HI", "HM", "MM", "mean", "Flickr8k", "THumB P", "THumB F"]
        headers += ["P, all", "F, all", "HAT AP", "FOIL AP of P", "FOIL AP of F"]
        tried = ([name, *agreement(choice, data)] for name, choice in TRIED.items())
        show("Agreement with people", headers, tried)
        for references in (True, False):
            how = "with" if references else "without"
            headers = ["captions", "P", "R", "F", "people score higher"]
            show(f"val2017, {how} references", headers, rankings(Choice(), data, references))
    if only != "prf":
        coco = data.objects.vocabulary()
        lists = {
            "all content words": None,
            "names of the list (chosen)": THINGS,
            "or a cosine of .8 to one": Things(shipped(), near=True),
            "the same, beginnings alike too": Things(shipped(), near=True, guard=False),
            "names of COCO's 80": Things(coco),
        }
        headers = ["words judged", "FOIL localisation", "FOIL AP of T", "defined", "HAT"]
        rows = ([name, *localization(things, data)] for name, things in lists.items())
        show("Which words are judged", headers, rows)
        headers = ["t", "FOIL correct", "planted", "word found", "precision", "HAT precision"]
        headers += ["HAT recall", "people Hs", "people Hi", "shuffled Hs", "shuffled Hi"]
        show("Thresholds", headers, thresholds(data, excuse=True))
        show("Thresholds, classes excuse nothing", headers, thresholds(data, excuse=False))
        headers = ["captions", "Hs", "Hi", "mentions not judged", "flagged most"]
        show("val2017, gold objects, no references", headers, objects_only(data, 0.4))
        print(f"\nUnsupported in people's captions: {unsupported_names(data, 0.4)}")
        show("Cases", ["caption", "objects", "source", "verdicts"], cases(data, 0.4))


if __name__ == "__main__":
    main()
