"""What language models write around a caption, and what of it claims nothing: one rule.

Generation leaves reasoning, marks of a chat, announcements, fences and quotation marks around an
answer. `read_answer` takes them off; docs/answers.md has the rule as a table. A text without any of
them is its own caption.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .refusals import is_refusal

RULE = "answers-1"  #: what signatures say of the rule
AS_WRITTEN = "as-written"  #: what they say where it is off

#: Keys of `COUNTS`: answers with reasoning, with other text around the caption, and without a claim.
REASONING, AROUND, NO_CLAIM = "reasoning", "around", "no_claim"

# Words in the names of marks, as in <think>, <inner_thoughts>, [THINK] or <|begin_of_thought|>.
_THOUGHTS = frozenset(
    "think thinking thinks thought thoughts reason reasoning reasons reflect reflection "
    "reflections scratchpad rationale cot monologue deliberation analysis planning brainstorm "
    "brainstorming".split()
)
_ANSWERS = frozenset(
    "answer caption final response output description conclusion summary solution result".split()
)
_OF_NAMES = frozenset("of the my a inner internal step by chain seed text image short".split())
_ENDING = frozenset(("end", "eot", "close"))
_BEGINNING = frozenset(("begin", "start", "open"))
# Marks of chat templates that end a turn, without their brackets and separators.
_END_OF_TURN = frozenset(
    "eos end endoftext imend eotid eot eomid eom endofturn endofsentence endofturntoken return pad "
    "endofutterance".split()
)
_BEGIN_OF_TURN = frozenset("s bos beginoftext beginofsentence startoftext".split())
_MODELS, _OTHERS = (
    frozenset(("assistant", "model", "gpt", "bot", "ai")),
    frozenset(("user", "human", "system", "instruction", "tool", "developer")),
)

_MARK = re.compile(
    # A channel of gpt-oss, with its name: <|channel|>final<|message|>.
    r"<\|channel\|?>\s*(?P<channel>[\w.]{0,40})"
    r"(?:[^<\n]{0,80}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>)?|(?P<closed><channel\|>)|"
    # A role that a template names: <|im_start|>assistant.
    r"(?:<\|im_start\|>|<\|start\|>|<start_of_turn>|<\|start_header_id\|>)\s*"
    r"(?P<role>(?:assistant|model|user|human|system|tool|developer|)\b)"
    r"(?:[ \t]*<\|end_header_id\|>)?|"
    # At the beginning of a line: USER:, ### Assistant:.
    r"^[ \t]*(?:\#{1,4}[ \t]*)?(?P<speaker>USER|User|HUMAN|Human|SYSTEM|System|ASSISTANT|Assistant|"
    r"assistant|GPT|Instruction)[ \t]*:|^(?P<alone>assistant|model|user|system)[ \t]*$|"
    # Tags and tokens.
    r"<[|\uff5c]?(?P<tag>/?[ ]?[A-Za-z][\w:.\u2581 -]{0,40}?)(?P<more>\s[^<>]{0,200})?[|\uff5c]?/?>|"
    r"\u25c1(?P<kimi>/?\w{1,40})\u25b7|\[(?P<square>/?[A-Z][A-Z_ ]{1,40})\]|"
    r"(?P<boxed>\\boxed\{)",
    re.M,
)
_WORDS = re.compile(r"[A-Za-z]+")
# What is left of gpt-oss's channels where special tokens were skipped.
_BARE_FINAL = "assistantfinal"
_BARE = re.compile(r"\s*(?:analysis|commentary)(?=\S)")
_MACRO = re.compile(r"\\(?:text|mathrm|textbf|mbox)\{")

_FENCE = re.compile(r"(`{3,}|~{3,})(?:[ \t]*[\w-]{0,20}[ \t]*\n)?")
_PAIRS = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "\u00ab": "\u00bb", "`": "`"}
_MARKUP = "*_#> \t"
_INTERJECTION = re.compile(
    r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|alright|got it|great question|no "
    r"problem)\s?[!.,]+\s+",
    re.I,
)
_LONGEST_ANNOUNCEMENT = 250
_NAMES_A_TEXT = frozenset(
    "caption captions description descriptions answer response output summary alt".split()
)
_ANNOUNCES = frozenset(("here", "below", "following"))
_OF_LABELS = (
    frozenset(
        "a an the my your this that it its is s final short brief detailed concise one sentence single "
        "simple possible suggested generated proposed image picture photo photograph scene for of in "
        "english text alt and coco style".split()
    )
    | _NAMES_A_TEXT
)
_REASONS = re.compile(
    r"(?:[*_#]+[ ]?)?(?:reasoning|thinking|thoughts?|thought process|chain of thought|analysis|"
    r"rationale|let's think step by step|step 1)\b[*_]*[ ]?[:.\n]",
    re.I,
)
_LABEL = re.compile(
    r"^[ \t]*[*_#]*[ ]?(?:the )?(?:final |my )?(?:answer|caption|response|output|description)"
    r"(?: is)?[*_]*[ ]?:",
    re.I | re.M,
)

_SOMETHING = re.compile(r"[^\W_]")  # a letter or digit
# Without any of these a text is a caption, or empty, or a refusal.
_AROUND = re.compile("[<\\[\u25c1`:\\\\\n]|assistantfinal")
_OUTSIDE = frozenset("\"'\u201c\u2018\u00ab*_#>")
_FIRST = re.compile(
    r"\s*(?:sure|certainly|of course|absolutely|ok|alright|got|great|no prob)", re.I
)


@dataclass(frozen=True)
class Answer:
    """A text as a language model wrote it, of which a part is the caption, or none."""

    written: str
    caption: str  #: what is scored; empty if it claims nothing
    left_out: tuple[str, ...] = ()  #: `REASONING` and `AROUND`, if there was such text
    #: Why it claims nothing: ``"empty"``, ``"only reasoning"`` or ``"a refusal"``; else empty.
    why_nothing: str = ""

    @property
    def counted(self) -> tuple[str, ...]:
        """The keys of `COUNTS` under which it is counted."""
        return (*self.left_out, *([NO_CLAIM] if self.why_nothing else ()))

    def to_json(self) -> dict[str, Any]:
        """Return what is said of a caption beside it: the text, and what of it is not scored."""
        said = {"written": self.written, "not_scored": list(self.counted)}
        return said | ({"claims_nothing": self.why_nothing} if self.why_nothing else {})

    @property
    def shown(self) -> str:
        """What people are shown: the caption, or the text as written with a mark before it."""
        return (
            f"[claims nothing: {self.why_nothing}] {self.written}"
            if self.why_nothing
            else self.caption
        )


def read_answer(text: str) -> Answer | None:
    """Return what of a text is scored; None if it is a caption as it stands.

    Takes time in proportion to the length of the text, whatever is in it.
    """
    caption = text
    left_out: tuple[str, ...] = ()
    if _AROUND.search(text) or text[:1] in _OUTSIDE or text[:1].isspace() or _FIRST.match(text):
        caption, left_out = _without_the_rest(text)
    why = ""
    if not _SOMETHING.search(caption):
        why = "only reasoning" if REASONING in left_out else "empty"
    elif is_refusal(caption):
        why = "a refusal"
    if why:
        return Answer(text, "", left_out, why)
    return Answer(text, caption, left_out) if left_out else None


def read_answers(texts: Sequence[str]) -> list[Answer | None] | None:
    """Return what `read_answer` does of each text; None if all of them are captions."""
    answers = list(map(read_answer, texts))
    return answers if any(answer is not None for answer in answers) else None


def captions_in(texts: Iterable[str], answers: Iterable[Answer | None]) -> list[str]:
    """Return the captions in texts that were read to these answers."""
    read = zip(texts, answers, strict=True)
    return [text if answer is None else answer.caption for text, answer in read]


def _without_the_rest(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the caption in a text, and what was left out; a text without such things stays."""
    caption, reasoned, around = _between_marks(text)
    labelled = _REASONS.match(caption.lstrip())
    labels = [*_LABEL.finditer(caption)] if labelled else []
    if labels:
        caption, reasoned = caption[labels[-1].end() :].lstrip(_MARKUP), True
    for _ in range(8):  # a fence in quotes in an announcement, say
        inside = _unwrapped(caption.strip())
        if inside is None:
            break
        caption, around = inside, True
    left_out = (*([REASONING] if reasoned else ()), *([AROUND] if around else ()))
    return (caption.strip() if left_out else text), left_out


@dataclass
class _Reading:
    """What is known of a text that is read from mark to mark."""

    kept: list[str]
    state: str = ""  # "" in a caption, else what is being skipped: a thought, channel or prompt
    answer: str | None = None  # what the last answer's tags hold
    in_answer: bool = False
    reasoned: bool = False
    around: bool = False
    ended: bool = False

    def keep(self, piece: str) -> None:
        """Keep a piece of text, unless it is skipped."""
        if not self.state:
            self.kept.append(piece)

    @property
    def has_text(self) -> bool:
        """Whether anything but blanks was kept."""
        return any(piece.strip() for piece in self.kept)

    def drop(self) -> None:
        """Forget what was kept: it was no answer."""
        self.kept.clear()

    def close_answer(self) -> None:
        """Take what was kept since the last tag as the answer."""
        self.answer, self.in_answer = "".join(self.kept), False
        self.kept.clear()


def _between_marks(text: str) -> tuple[str, bool, bool]:
    """Return the caption between marks, whether there was reasoning, and whether other marks."""
    reading, at = _Reading([]), 0
    if _BARE_FINAL in text and _BARE.match(text):
        reading.reasoned, at = True, text.rindex(_BARE_FINAL) + len(_BARE_FINAL)
    marks = [(kind, mark) for mark in _MARK.finditer(text, at) if (kind := _kind_of(mark))]
    last_close, last_model = (
        max((mark.start() for kind, mark in marks if kind == which), default=-1)
        for which in ("/thought", "model")
    )
    for kind, mark in marks:
        if mark.start() < at:  # within braces that were read
            continue
        reading.keep(text[at : mark.start()])
        at = mark.end()
        if kind == "other" and not reading.has_text and mark.start() > last_model:
            reading.keep(mark[0])  # nobody answers
        elif kind == "boxed":
            inside, at = _in_braces(text, at)
            if not reading.state:
                reading.answer, reading.around = inside, True
                reading.drop()
        else:
            _pass(reading, kind, thought_closes=mark.start() < last_close)
        if reading.ended:
            at = len(text)
            break
    reading.keep(text[at:])
    if reading.in_answer and not reading.state:
        reading.close_answer()
    caption = "".join(reading.kept) if reading.answer is None else reading.answer
    return caption, reading.reasoned, reading.around


def _pass(reading: _Reading, kind: str, thought_closes: bool) -> None:
    """Go on behind a mark; `thought_closes` tells whether a thought ends further on."""
    if kind == "thought":
        if reading.in_answer and reading.has_text:
            reading.close_answer()
        reading.state, reading.reasoned = "thought", True
    elif kind == "/thought":  # what stands before it was a thought, wherever that began
        if not reading.state:
            reading.drop()
            reading.answer, reading.in_answer = None, False
        reading.state, reading.reasoned = "", True
    elif kind == "answer":
        if reading.state == "thought" and thought_closes:
            return  # a thought about the format
        reading.state, reading.in_answer, reading.around = "", True, True
        reading.drop()
    elif kind == "/answer":
        if not reading.state and (reading.in_answer or reading.has_text):
            reading.close_answer()
            reading.around = True
    elif kind == "channel":
        reading.state, reading.reasoned = "channel", True
    elif kind == "final":
        reading.state, reading.around = "", True
        reading.drop()
    elif kind in ("model", "other"):
        reading.around = True
        if reading.state == "thought":
            return
        if kind == "other" and (reading.has_text or reading.answer is not None):
            reading.ended = True
        elif kind == "other":
            reading.state = "prompt"
        else:
            reading.state = "" if reading.state in ("", "prompt") else reading.state
            reading.drop()
    elif kind == "begin":
        reading.around = True
    elif kind == "end":
        reading.around = True
        if reading.state == "channel":
            reading.state = ""
        elif not reading.state and (reading.has_text or reading.answer is not None):
            reading.ended = True


def _kind_of(mark: re.Match[str]) -> str:
    """Return what a mark does: begin or end a thought, an answer, a turn; empty if nothing."""
    if mark["channel"] is not None:
        named = _WORDS.findall(mark["channel"].lower())
        return "final" if not _ANSWERS.isdisjoint(named) else "channel"
    if mark["closed"]:
        return "end"
    if mark["boxed"]:
        return "boxed"
    role = mark["role"] or mark["speaker"] or mark["alone"]
    if role:
        return "model" if role.lower() in _MODELS else "other"
    if mark["role"] is not None:
        return "begin"
    name = mark["tag"] or mark["kimi"] or mark["square"]
    words = [word.lower() for word in _WORDS.findall(name)]
    closes = name.startswith("/") or not _ENDING.isdisjoint(words)
    core = [word for word in words if word not in _ENDING | _BEGINNING | _OF_NAMES]
    if core and core[-1] in _THOUGHTS:
        return "/thought" if closes else "thought"
    if core and _ANSWERS.issuperset(core):
        return "/answer" if closes else "answer"
    joined = "".join(words)
    if joined in _END_OF_TURN or (joined == "s" and closes):
        return "end"
    if joined in _BEGIN_OF_TURN:
        return "begin"
    if mark["square"] and joined == "inst":  # of Mistral: the model writes behind it
        return "model" if closes else "other"
    if mark[0].startswith(("<|", "<\uff5c")) and joined in _MODELS | _OTHERS:
        return "model" if joined in _MODELS else "other"
    return ""


def _in_braces(text: str, start: int) -> tuple[str, int]:
    """Return what stands in braces that begin before `start`, and the place behind them."""
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if not depth:
            return _without_macro(text[start:at]), at + 1
    return text[start:], len(text)


def _without_macro(text: str) -> str:
    found = _MACRO.match(text)
    return text[found.end() : -1] if found and text.endswith("}") else text


def _unwrapped(text: str) -> str | None:
    """Return a text without its outermost fence, quotation marks or announcement; None if bare."""
    fence = _FENCE.match(text)
    if fence is not None:
        return text[fence.end() :].partition(fence[1])[0].strip()
    interjection = _INTERJECTION.match(text)
    if interjection is not None:
        return text[interjection.end() :]
    closing = _PAIRS.get(text[:1])
    if closing and len(text) > 1 and text.endswith(closing):
        inside = text[1:-1]
        if text[0] not in inside and closing not in inside.replace("n't", "").replace("'s", ""):
            return inside
    if text.startswith("**") and text.endswith("**") and len(text) > 4 and "**" not in text[2:-2]:
        return text[2:-2]
    return next((text[end:].lstrip(_MARKUP) for end in _announcements(text)), None)


def _announcements(text: str) -> Iterator[int]:
    """Yield where an announcement such as *Here is a caption:* ends, if a text begins with one."""
    line = text.find("\n", 0, _LONGEST_ANNOUNCEMENT)
    colon = text.find(":", 0, _LONGEST_ANNOUNCEMENT)
    for end in sorted(at for at in (line, colon) if at >= 0):
        head = text[:end].strip(f"{_MARKUP}.!:")
        if any(mark in head for mark in ".!?\n"):
            return
        words = [word.lower() for word in _WORDS.findall(head)]
        names_it = not _NAMES_A_TEXT.isdisjoint(words) or " ".join(words).endswith("what i see")
        if names_it and (not _ANNOUNCES.isdisjoint(words) or _OF_LABELS.issuperset(words)):
            yield end + 1
