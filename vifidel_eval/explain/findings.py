"""Findings: the most frequent things that the captions of a result file get wrong or leave out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from ..io.image_ids import ImageId, to_json_value
from ..kernels.known import REFERENCES, Verdict
from .explanation import Explanation, around

#: How tables call the kinds of findings.
MADE_UP, MISSED, UNCONFIRMED = "made up", "missed", "unconfirmed"

_EXAMPLES = 3


@dataclass
class Finding:
    """A thing that is not in the images of some captions, or an object they leave unmentioned."""

    what: str  #: the captions' words for the thing, or the object label
    category: str | None = None  #: the class of the thing; None for an object
    captions: int = 0  #: in how many captions that is so
    of: int = 0  #: how many captions have these words, or describe an image that has the object
    #: The images of these captions, in order, each with how many of its captions these are.
    images: Counter[ImageId] = field(default_factory=Counter)
    first_captions: dict[ImageId, str] = field(default_factory=dict)  #: the first one of each image

    @property
    def examples(self) -> list[tuple[ImageId, str]]:
        """A few images that have most of these captions, each with the first one."""
        frequent = self.images.most_common(_EXAMPLES)
        return [(image_id, self.first_captions[image_id]) for image_id, _ in frequent]

    def to_json(self, captions: int, answers: Mapping[ImageId, int] | None) -> dict[str, Any]:
        """Return the finding as JSON can hold it; its share is of all `captions`.

        Of several `answers` about an image, it says how many have it, the most frequent first.
        """
        by_image = [
            {"image_id": to_json_value(image_id), "said_in": k, "answers": answers[image_id]}
            for image_id, k in self.images.most_common()
            if answers is not None
        ]
        return {
            "what": self.what,
            "category": self.category,
            "captions": self.captions,
            "share": self.captions / captions,
            "of": self.of,
            "examples": [
                {"image_id": to_json_value(image_id), "caption": caption}
                for image_id, caption in self.examples
            ],
            "images": list(map(to_json_value, self.images)),
            **({"by_image": by_image} if by_image else {}),
        }

    def count(self, explanation: Explanation) -> None:
        """Add a caption that has the finding."""
        self.captions += 1
        self.images[explanation.image_id] += 1
        self.first_captions.setdefault(explanation.image_id, explanation.shown)

    def example(self, width: int) -> str:
        """Return at most `width` characters of the first example, with a mention's words."""
        return around(self.examples[0][1], self.what if self.category else "", width)


@dataclass(frozen=True)
class Findings:
    """What is not in the images and what went unmentioned in the captions of a system."""

    #: Captions of whose image something is known: what all other counts are about.
    captions: int = 0
    rated: int = 0  #: captions in whose image something can be absent; rates are of these
    undefined: int = 0  #: the other captions
    wordless: int = 0  #: captions without a usable word
    #: Counts over all captions, explained in `vifidel_eval.evaluation.COUNTS`.
    no_claim: int = 0
    reasoning: int = 0
    around: int = 0
    unknown_words: int = 0  #: words and labels without a vector, each once per caption
    #: Captions that mention a thing that is probably not in the image; divided by `rated`, that is
    #: VIFIDEL-Hs.
    hallucinating: int = 0
    mentions: int = 0  #: mentions of things, every one
    judged: int = 0  #: mentions in rated captions that could be judged
    unconfirmed: int = 0  #: mentions of what nobody looked for and no reference has
    #: Captions with a mention that references alone judge: their objects do not say what was looked
    #: for.
    judged_by_references: int = 0
    #: Mentions that are probably not in the image, and wrong denials; divided by `judged`, that is
    #: VIFIDEL-Hi.
    not_in_image: int = 0
    objects: int = 0  #: objects, each label once per image
    unmentioned: int = 0  #: objects that the caption does not speak of
    hallucinated_words: list[Finding] = field(default_factory=list)
    unmentioned_objects: list[Finding] = field(default_factory=list)
    unconfirmed_words: list[Finding] = field(default_factory=list)
    #: With several answers about an image: how many there are about each; else None.
    answers: Mapping[ImageId, int] | None = None

    @property
    def by_kind(self) -> dict[str, list[Finding]]:
        """The lists, by what tables call them."""
        return {
            MADE_UP: self.hallucinated_words,
            MISSED: self.unmentioned_objects,
            UNCONFIRMED: self.unconfirmed_words,
        }

    def to_json(self) -> dict[str, Any]:
        """Return everything as JSON can hold it."""
        return {
            name: [finding.to_json(self.captions, self.answers) for finding in value]
            if isinstance(value, list)
            else value
            for name, value in vars(self).items()
            if name != "answers"
        }

    def said_in(self, finding: Finding, image_id: ImageId) -> str:
        """Return how many answers about an image have a finding; nothing of single captions."""
        if self.answers is None:
            return ""
        return f" ({finding.images[image_id]} of {self.answers[image_id]})"


def find(parts: Iterable[Iterable[Explanation]], of_samples: bool = False) -> Findings:
    """Return what the explanations of one system's captions have in common; reads them once.

    With samples, an image has several captions, its answers.
    """
    answers: Counter[ImageId] = Counter()
    words: dict[str, Finding] = {}
    unconfirmed: dict[str, Finding] = {}
    objects: dict[str, Finding] = {}
    uses: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for explanation in chain.from_iterable(parts):
        answers[explanation.image_id] += 1
        counts["unknown_words"] += len(explanation.unknown_words)
        if explanation.answer is not None:
            counts.update(explanation.answer.counted)
        if not explanation.known:
            counts["undefined"] += 1
            continue
        mentions = explanation.mentions
        wrong = [mention for mention in mentions if mention.verdict.is_wrong]
        unsure = [m for m in mentions if m.verdict is Verdict.UNCONFIRMED]
        counts["captions"] += 1
        counts["rated"] += explanation.rated
        counts["wordless"] += not explanation.words
        counts["mentions"] += len(mentions)
        counts["judged"] += explanation.rated * sum(
            m.judged_by is not None and m.verdict is not Verdict.UNCONFIRMED for m in mentions
        )
        counts["not_in_image"] += len(wrong)
        counts["unconfirmed"] += len(unsure)
        counts["hallucinating"] += bool(wrong)
        counts["judged_by_references"] += any(
            m.judged_by == REFERENCES and m.verdict is not Verdict.WRONG_DENIAL for m in mentions
        )
        uses.update({mention.words for mention in mentions})
        for listed, of_kind in ((words, wrong), (unconfirmed, unsure)):
            for text, category in {m.words: m.category for m in reversed(of_kind)}.items():
                listed.setdefault(text, Finding(text, category)).count(explanation)
        for label, _, is_mentioned in explanation.objects:
            # The plan takes mass from every object; without words there is none.
            if explanation.words or not is_mentioned:
                finding = objects.setdefault(label, Finding(label))
                finding.of += 1
                if not is_mentioned:
                    finding.count(explanation)
    for finding in (*words.values(), *unconfirmed.values()):
        finding.of = uses[finding.what]
    return Findings(
        **counts,
        objects=sum(finding.of for finding in objects.values()),
        unmentioned=sum(finding.captions for finding in objects.values()),
        hallucinated_words=_frequent(words.values()),
        unmentioned_objects=_frequent(objects.values()),
        unconfirmed_words=_frequent(unconfirmed.values()),
        answers=answers if of_samples else None,
    )


def _frequent(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings, the most frequent first, those of equal frequency by name."""
    counted = [finding for finding in findings if finding.captions]
    return sorted(counted, key=lambda finding: (-finding.captions, finding.what))
