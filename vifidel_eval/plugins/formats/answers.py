"""What was looked for and is there or not: answers of models and benchmarks.

- POPE (Li et al., EMNLP 2023; https://github.com/AoiDragon/POPE): ``{"image":
  "COCO_val2014_000000000042.jpg", "text": "Is there a snowboard in the image?", "label": "yes"}``.
- AMBER's ``annotations.json`` (Wang et al., 2023; https://github.com/junyangwang0410/AMBER) lists
  for each generative task what is in its image, ``truth``, and what is not and models name,
  ``hallu``. Entries of other types are about one question each.
- Woodpecker's samples (Yin et al., 2023; ``models/detector.py`` of
  https://github.com/BradyFU/Woodpecker) have ``entity_info``, ``{"dog": {"total_count": 1, "bbox":
  [[...]]}}``, with boxes of left, top, right and bottom in shares of the image's sides.
"""

from __future__ import annotations

import re
from typing import Any

from ...annotations.categories import NO_NAMES
from ...annotations.instances import Format, Instances, Variant, from_corners
from ...annotations.labels import ANSWER_THRESHOLD, check_score, listed, located
from ...annotations.objects import ObjectLabels
from ...captions.generated import REASONING, without_the_rest
from ...errors import AnnotationError
from ...io.entries import Entries, Entry

# What opens an answer and is no answer, unless nothing else is one: *No doubt* then means yes, *No
# problem* nothing.
_OPENING = re.compile(
    r"(?:(?:there(?:'s| is) )?no (?:doubt|question)(?: about (?:it|that))?\b|"
    r"without (?:a |any )?doubt\b|(?:sure|of course|certainly|definitely|absolutely|indeed|"
    r"clearly|obviously|correct|right|true|affirmative)\b|"
    r"(?P<empty>no (?:problem|worries|wonder)\b|(?:well|okay|ok|oh|hmm+|so|unfortunately|"
    r"(?:i'm |i am )?(?:afraid|sorry))\b(?!-)))[ \"'*.,:;!\u2013\u2014-]*"
)
_ANSWER = re.compile(  # a yes or no that stands alone, or begins a sentence
    r"\b(?:(yes|yep|yeah|yup)|"
    r"(nope|nah|no(?= *(?:[.,:;!?)\"'*\u2013\u2014]|$|and\b|or\b))))\b|^(no)\b"
)
_SUBJECT = r"(?:the |this )?(?:it|that|this|image|picture|photo|scene)"
_SEE = r"(?:see|spot|find|notice|detect|observe)"
_MARKED = re.compile(r"\s*[<\[{`\\\u25c1]")  # <answer>yes</answer>
# How models leave it open: "I am not sure", "I cannot tell from here.", "There might be."
_UNSURE = re.compile(
    r"(?:i(?:'m| am)? |it(?:'s| is) )?(?:unsure|uncertain|unclear|unknown|maybe|perhaps|possibly|"
    r"probably|likely|no (?:idea|clue|way (?:to|of))|not (?:sure|certain|clear|possible)|"
    r"can(?:'t|not| not) (?:tell|say|determine|be|see(?! (?:an?|any|one)\b))|"
    r"(?:don't|do not) know|(?:hard|difficult|impossible) to)\b|"
    r"(?:there|it) (?:may|might|could)\b|(?:it |that )?depends\b"
)
# Sentences that say no, and those that say yes.
_NOT_THERE = re.compile(
    rf"(?:not|none|nothing|neither|never|nowhere|false|negative)\b|"
    rf"(?:i|we) (?:(?:do|did|could)n't|can't|(?:do|did|can|could) ?not) (?:{_SEE}|think|believe)\b|"
    rf"(?:i'm|i am|we are) unable to {_SEE}\b|"
    rf"(?:i|we) (?:can )?{_SEE} (?:no|none|nothing)\b|"
    rf"there (?:is|are|was|were|do|does)(?:n't\b| (?:not?|none|nothing)\b)|there's (?:not?|none)\b|"
    rf"(?:it|{_SUBJECT}) (?:is|does|do|was)(?:n't| not)\b|(?:doesn't|isn't|aren't)\b|"
    rf"(?:it|there) (?:appears|seems)(?: to be)? (?:not?|none)\b|"
    rf"{_SUBJECT} (?:contains|shows|has|includes|depicts) no\b"
)
_THERE = re.compile(
    rf"there(?:'s| is| are| was| were| appears?| seems?)\b|(?:i|we) (?:can |do )?{_SEE}\b|"
    rf"(?:i|we) (?:think|believe) (?:so|there (?:is|are)|it is)\b|"
    rf"{_SUBJECT} (?:is|does|was|appears|seems|looks|contains|shows|has|includes|depicts)\b"
)
_ANYTHING = re.compile(
    r"\W*$|.*\b(?:one|some|two|three|several|many|few|so|like it|visible|present)\b"
)
_SENTENCES = re.compile(r"[.!?]+")


def _there(entry: Entry, key: str, thing: Any, expected: str) -> bool | None:
    """Return what an answer in words means: there, not there, or None where it leaves that open.

    *There is a dog* says nothing of a cat.
    """
    answer = entry.get(key)
    if isinstance(answer, bool):
        return answer
    text = answer if isinstance(answer, str) else ""
    without_reasoning, left_out = without_the_rest(text)
    if REASONING in left_out or _MARKED.match(text):  # else *Of course* is the answer
        text = without_reasoning
    text = " ".join(text.replace("\u2019", "'").lower().split()).strip(" \"'*.")
    if _UNSURE.match(text):
        return None
    agrees, start = False, 0
    while opening := _OPENING.match(text, start):
        agrees = agrees or not opening["empty"]
        start = opening.end()
    text = text[start:]
    for sentence in map(str.strip, _SENTENCES.split(text)):
        answers = {bool(yes) for yes, *_ in _ANSWER.findall(sentence)}
        if answers:
            return None if len(answers) == 2 else answers.pop()
    if _UNSURE.match(text):
        return None
    if _NOT_THERE.match(text):
        return False
    is_there = _THERE.match(text)
    text_after = text[is_there.end() :] if is_there else ""
    names_thing = isinstance(thing, str) and thing.lower() in text_after
    if agrees or names_thing or (is_there and _ANYTHING.match(text_after)):
        return True
    raise entry.refusal(key, expected)


def _read_answers(answers: Entries, instances: Instances) -> ObjectLabels:
    """Read one answer per record; *I cannot tell* is counted and says nothing."""
    instances.counts_from(ANSWER_THRESHOLD)
    for answer in answers:
        image_id, thing = answer.image_id(), answer["thing"]
        if answer.get("answer") is None and answer.get("score") is not None:
            instances.scored = True
            is_there = instances.there(check_score(answer["score"], answer))
        else:
            is_there = _there(
                answer, "answer", thing, "yes, no or unsure, or a 'score' from 0 to 1"
            )
        instances.answer(image_id, thing, is_there, answer)
    # An image whose captions mention nothing has no question, and so no answer.
    return instances.object_labels("answers", lists_every_image=False, says_asked=True)


ANSWERS = Format(
    "answers",
    'answers `{"image_id": 1, "thing": "nut", "answer": "no"}` or `"score": 0.12`, JSON Lines',
    ".5, if there are scores",
    "only what was asked for can be absent; *yes*, *no* and *not sure* may be in a model's own "
    "words; *not sure* is counted, and judges nothing",
    (Variant("list", ("[].thing", "[].answer [].score"), _read_answers),),
    example='{"image_id": 1, "thing": "nut", "answer": "no"}',
)


_QUESTION = re.compile(
    r"\s*(?:is|are) there (?:(?:an?|any|the|some) )?(.+?) "
    r"in (?:the|this) (?:image|picture|photo)\W*",
    re.IGNORECASE,
)


def _read_pope(questions: Entries, instances: Instances) -> ObjectLabels:
    """Read POPE's questions; what each asks about is there or not, as ``label`` or answer says."""
    text = questions.first_key(("text", "question"))
    label = questions.first_key(("label", "answer"))
    for question in questions:
        image_id = question.image_id("image")
        asked = _QUESTION.fullmatch(str(question.get(text)))
        if not asked:
            raise question.refusal(text, "a question such as 'Is there a dog in the image?'")
        is_there = _there(question, label, asked[1], "yes or no, as POPE has it")
        instances.answer(image_id, asked[1], is_there, question)
    return instances.object_labels("pope", says_asked=True)


POPE = Format(
    "POPE",
    "POPE's questions with their answers, JSON Lines",
    "",
    "the benchmark's own `label`; where there is none, a model's `answer`",
    (Variant("list", ("[].image=", "[].text [].question", "[].label [].answer"), _read_pope),),
    example='{"image": "1.jpg", "text": "Is there a dog in the image?", "label": "yes"}',
)


def _read_amber(entries: Entries, instances: Instances) -> ObjectLabels:
    """Read the generative entries; a word in both lists is there."""
    for entry in entries:
        if entry.get("type") != "generative":
            continue
        image_id = instances.image_once(entry, "id")
        instances.asked_in(image_id)
        true, made_up = (
            entry.members(key, object, "a list of things") for key in ("truth", "hallu")
        )
        for thing in true:
            instances.answer(image_id, thing, True, entry)
        for thing in made_up:
            if not isinstance(thing, str) or thing not in true:
                instances.answer(image_id, thing, False, entry)
    if not instances.images:
        raise AnnotationError(
            f"{instances.where}: no entry of type 'generative', which list what is in an image; "
            "give AMBER's annotations.json."
        )
    return instances.object_labels("amber", says_asked=True)


AMBER = Format(
    "AMBER",
    "AMBER's `annotations.json`",
    "",
    "of generative entries, `truth` is there and `hallu` is not; a word in both is there; image "
    "ids are AMBER's numbers",
    (Variant("list", ("[].id", "[].type", "[].truth"), _read_amber),),
    example='[{"id": 1, "type": "generative", "truth": ["dog"], "hallu": ["cat"]}]',
)


def _read_woodpecker(samples: Entries, instances: Instances) -> ObjectLabels:
    """Read the entities of each sample: their number, 0 for those that were not found."""
    key = samples.first_key(("image_id", "img_path", "image"))
    for sample in samples:
        image_id = instances.image_once(sample, key)
        entities = sample["entity_info"]
        counts = {name: entity["total_count"] for name, entity in entities.items()}
        instances.asked_in(image_id)
        with located(sample):
            tags = list(listed(counts, instances.lowest, None, NO_NAMES))
        for tag in tags:
            label = instances.ask(image_id, tag.name, sample)
            if tag.number:
                instances.add(image_id, tag.name, sample, tag.number)
            boxes = entities[tag.name].get("bbox")
            for box in boxes if label and isinstance(boxes, list) else ():
                instances.keep_box(image_id, label, from_corners(box), size=(1.0, 1.0))
    return instances.object_labels("woodpecker", says_asked=True)


WOODPECKER = Format(
    "Woodpecker",
    "Woodpecker's samples with `entity_info`, a list or JSON Lines",
    "",
    "the image is `image_id`, `img_path` or `image`; a thing with a `total_count` of 0 is not "
    "there",
    (Variant("list", ("[].entity_info",), _read_woodpecker),),
    example='[{"image_id": 1, "entity_info": {"dog": {"total_count": 2}}}]',
)
