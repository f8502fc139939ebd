"""What language models write around a caption, and what of it claims nothing: one rule.

Generation leaves reasoning, marks of a chat, announcements, fences and quotation marks around an
answer. `read_answer` takes them off; docs/captions.md has the rule as a table. A text without any
of them is its own caption.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .wrapping import DECLINING, MARKUP, PAIRS, is_refusal, unwrapped

RULE = "answers-1"  #: what signatures say of the rule
AS_WRITTEN = "as-written"  #: what they say where it is off

#: Keys of `COUNTS`: answers with reasoning, with other text around the caption, without a claim.
REASONING, AROUND, NO_CLAIM = "reasoning", "around", "no_claim"

# Words in the names of marks, as in <think>, <inner_thoughts>, [THINK] or <|begin_of_thought|>.
_THOUGHTS = frozenset(
    "think thinking thinks thought thoughts reason reasoning reasons reflect reflection "
    "reflections scratchpad rationale cot monologue deliberation analysis planning brainstorm "
    "brainstorming details plan critique verification".split()
)
_ANSWERS = frozenset(
    "answer caption final response output description conclusion summary solution result".split()
)
_OF_NAMES = frozenset(
    "of the my a inner internal step by chain seed text image short content process steps".split()
)
_ENDING = frozenset(("end", "eot", "close"))
_BEGINNING = frozenset(("begin", "start", "open"))
_MODELS = frozenset(("assistant", "model", "gpt", "bot", "ai"))
# What tokens of chat templates do, by the letters of their names; closing ones have a slash.
_OF_TURNS = {
    **dict.fromkeys(
        "s bos beginoftext beginofsentence startoftext startofturntoken imsep".split(), "begin"
    ),
    **dict.fromkeys(
        "/s eos /end /endoftext /imend /eotid /eot eomid eom endoftext endofturn /endofturn "
        "/endofsentence /endofturntoken /endofutterance return pad unk".split(),
        "end",
    ),
    "beginofbox": "answer",
    "/endofbox": "/answer",
}
_OF_ROLES = {
    **dict.fromkeys(_MODELS, "model"),
    **dict.fromkeys(("user", "human", "system", "tool", "developer"), "other"),
}
_OF_MISTRAL = {"inst": "other", "/inst": "model"}
_OF_GEMMA = {"unused94": "thought", "unused95": "/thought"}
# LLaVA-CoT writes a summary and a draft, and after its reasoning the answer.
_FIRST_STAGE = "<SUMMARY>"

_MARK = re.compile(
    # A channel of gpt-oss, with its name: <|channel|>final<|message|>.
    r"<\|channel\|?>\s*(?P<channel>[\w.]{0,40})"
    r"(?:[^<\n]{0,80}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>)?|(?P<closed><(?:channel|turn)\|>)|"
    # A role that a template names: <|im_start|>assistant.
    r"(?:<\|im_start\|>|<\|start\|>|<start_of_turn>|<\|turn>|<\|start_header_id\|>)\s*"
    r"(?P<role>(?:assistant|model|user|human|system|tool|developer|)\b)"
    r"(?:[ \t]*<\|end_header_id\|>)?|"
    # At the beginning of a line: USER:, ### Assistant:.
    r"^[ \t]*(?:\#{1,4}[ \t]*)?(?P<speaker>USER|User|HUMAN|Human|SYSTEM|System|ASSISTANT|Assistant|"
    r"assistant|GPT|Instruction)[ \t]*:|^(?P<alone>assistant|model|user|system)[ \t]*$|"
    # Tags and tokens.
    r"<[|\uff5c]?(?P<tag>/?[ ]?[A-Za-z][\w:.\u2581 -]{0,40}?)(?:\s[^<>]{0,200})?"
    r"[|\uff5c]?/?>|"
    r"(?:\u25c1|\[\|)(?P<bracketed>/?\w{1,40})(?:\u25b7|\|\])|\[(?P<square>/?[A-Z][A-Z_ ]{1,40})\]|"
    r"(?P<boxed>\\boxed\{)",
    re.M,
)
_WORDS = re.compile(r"[A-Za-z]+")
# What surrounds a tag that a caption mentions: A sign with "<think>" on it.
_SENTENCE_BEGINS = re.compile(r"[^.!?:\n]*\w,? [\"'\u201c\u2018(`]?")
_SENTENCE_GOES_ON = re.compile(r"(?:[\"'\u201d\u2019)`]|,? (?=[a-z]))[^.!?\n]*[.!?]?\s*")
# What is left of gpt-oss's channels where special tokens were skipped.
_BARE_FINAL = "assistantfinal"
_BARE = re.compile(r"\s*(?:assistant)?(?:analysis|commentary)")
_MACRO = re.compile(r"\\(?:text|mathrm|textbf|mbox)\{")

_REASONS = re.compile(
    r"(?:[*_#]+[ ]?)?(?:reasoning|thinking|thoughts?|(?:thought|thinking|reasoning) process|"
    r"chain of thought|analysis|rationale|let's think step by step|step 1)\b[*_]*[ ]?[:.\n]|"
    r"(?:okay|alright|hmm)\b[,.]? (?:so |now )?(?:let me|let's|i need to)\b",
    re.I,
)
_LABEL = re.compile(
    r"^[ \t]*[*_#]*[ ]?(?:the )?(?:(?P<final>final )|my )?"
    r"(?:answer|caption|response|output|description)(?: is)?[*_]*[ ]?(?::|$)",
    re.I | re.M,
)

_SOMETHING = re.compile(r"[^\W_]")  # a letter or digit
# Without any of these a text is a caption, or empty, or a refusal.
_AROUND = re.compile("[{<\\[\u25c1`:\\\\\n]|assistantfinal")
_OUTSIDE = frozenset((*PAIRS, *"*_#>"))
_FIRST = re.compile(
    r"\s*(?:sure|certainly|of course|absolutely|ok|alright|got|great|no prob|i['\u2019]d|i would|"
    r"happy|glad)",
    re.I,
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
        answer = {"written": self.written, "not_scored": list(self.counted)}
        return answer | ({"claims_nothing": self.why_nothing} if self.why_nothing else {})

    @property
    def shown(self) -> str:
        """What people are shown: the caption, or the text as written with a mark before it."""
        mark = f"[claims nothing: {self.why_nothing}]"
        return f"{mark} {self.written}".rstrip() if self.why_nothing else self.caption


def read_answer(text: str) -> Answer | None:
    """Return what of a text is scored; None if it is a caption as it stands.

    Takes time in proportion to the length of the text, whatever is in it.
    """
    caption, left_out = without_the_rest(text)
    why = ""
    if not _SOMETHING.search(caption):
        why = "only reasoning" if REASONING in left_out else "empty"
    elif any(piece in caption for piece in DECLINING) and is_refusal(caption):
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
    pairs = zip(texts, answers, strict=True)
    return [text if answer is None else answer.caption for text, answer in pairs]


def without_the_rest(text: str) -> tuple[str, tuple[str, ...]]:
    """Return a text without what is around an answer, and which of `REASONING`, `AROUND` it had."""
    if _AROUND.search(text) or text[:1] in _OUTSIDE or text[:1].isspace() or _FIRST.match(text):
        return _without_the_rest(text)
    return text, ()


def _without_the_rest(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the caption in a text, and what was left out; a text without such things stays."""
    caption, reasoned, around = _between_marks(text)
    labels = [*_LABEL.finditer(caption)]
    reasons = caption[: labels[-1].start()].strip() if labels else ""
    if reasons and (labels[-1]["final"] or _REASONS.match(reasons)):
        caption, reasoned = caption[labels[-1].end() :].lstrip(MARKUP), True
    for _ in range(8):  # a fence in quotes in an announcement, say
        inside = unwrapped(caption.strip())
        if inside is None:
            break
        caption, around = inside, True
    left_out = (*([REASONING] if reasoned else ()), *([AROUND] if around else ()))
    return (caption.strip() if left_out else text), left_out


@dataclass
class _Reading:
    """What is known of a text that is read from mark to mark."""

    kept: list[str] = field(default_factory=list)
    is_kept: bool = False  # whether anything but blanks was
    skipping: str = ""  # a thought, channel or prompt; empty within a caption
    answer: str | None = None  # what the last answer's tags hold
    in_answer: bool = False
    reasoned: bool = False
    around: bool = False
    ended: bool = False
    thought_ends: bool = False  # whether a thought ends further on
    before: str = ""  # what stands before an end of a thought that had ended

    def keep(self, piece: str) -> None:
        """Keep a piece of text, unless it is skipped."""
        if not self.skipping:
            self.kept.append(piece)
            self.is_kept |= piece.strip() != ""

    def forget(self) -> None:
        """Keep nothing of what was read."""
        self.kept.clear()
        self.is_kept = False

    @property
    def has_text(self) -> bool:
        """Whether anything but blanks was kept."""
        return self.answer is not None or self.is_kept

    def hold(self, answer: str) -> None:
        """Take what stands between tags as the answer."""
        self.answer, self.in_answer, self.around = answer, False, True
        self.forget()

    def begin_thought(self) -> None:
        if self.in_answer and not self.skipping and self.is_kept:
            self.hold("".join(self.kept))
        self.skipping, self.reasoned = "thought", True

    def end_thought(self) -> None:
        if not self.skipping:  # what stands before it was the thought, wherever that began
            self.before = (self.answer or "".join(self.kept)) if self.reasoned else ""
            self.forget()
            self.answer, self.in_answer = None, False
        self.skipping, self.reasoned = "", True

    def begin_answer(self) -> None:
        if self.skipping != "thought" or not self.thought_ends:  # else it thinks of the format
            self.skipping, self.in_answer, self.around = "", True, True
            self.forget()

    def end_answer(self) -> None:
        if not self.skipping and (self.in_answer or self.is_kept):
            self.hold("".join(self.kept))

    def begin_channel(self) -> None:
        self.skipping, self.reasoned = "channel", True

    def begin_final(self) -> None:
        self.skipping, self.around = "", True
        self.forget()

    def begin_turn(self) -> None:
        self.around = True

    def end_turn(self) -> None:
        self.around = True
        if self.skipping == "channel":
            self.skipping = ""
        elif not self.skipping and self.has_text:
            self.ended = True

    def model_speaks(self) -> None:
        self.around = True
        if self.skipping != "thought":
            self.skipping = "" if self.skipping == "prompt" else self.skipping
            self.forget()

    def other_speaks(self) -> None:
        self.around = True
        if self.skipping != "thought":
            self.ended = self.has_text
            self.skipping = self.skipping if self.has_text else "prompt"


_STEPS: Mapping[str, Callable[[_Reading], None]] = {
    "thought": _Reading.begin_thought,
    "/thought": _Reading.end_thought,
    "answer": _Reading.begin_answer,
    "/answer": _Reading.end_answer,
    "channel": _Reading.begin_channel,
    "final": _Reading.begin_final,
    "begin": _Reading.begin_turn,
    "end": _Reading.end_turn,
    "model": _Reading.model_speaks,
    "other": _Reading.other_speaks,
}


def _between_marks(text: str) -> tuple[str, bool, bool]:
    """Return the caption between marks, whether there was reasoning, and whether other marks."""
    reading, at = _Reading(), 0
    if _BARE_FINAL in text and _BARE.match(text):
        reading.reasoned, at = True, text.rindex(_BARE_FINAL) + len(_BARE_FINAL)
    marks = [(kind, mark) for mark in _MARK.finditer(text, at) if (kind := _kind_of(mark))]
    if (
        len(marks) == 1
        and marks[0][0].endswith(("thought", "answer"))
        and _is_mentioned(marks[0][1])
    ):
        marks = []
    last_close, last_model = (
        max((mark.start() for kind, mark in marks if kind == end), default=-1)
        for end in ("/thought", "model")
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
            if not reading.skipping:
                reading.hold(inside)
        else:
            reading.thought_ends = mark.start() < last_close
            _STEPS[kind](reading)
        if reading.ended:
            at = len(text)
            break
    reading.keep(text[at:])
    if reading.in_answer and not reading.skipping:
        reading.hold("".join(reading.kept))
    if reading.skipping == "thought" and text.lstrip().startswith(_FIRST_STAGE):
        return "", True, True
    caption = "".join(reading.kept) if reading.answer is None else reading.answer
    if not caption.strip() and not reading.skipping:
        caption = reading.before
    return caption, reading.reasoned, reading.around


def _is_mentioned(mark: re.Match[str]) -> bool:
    """Return whether a mark is in the middle of the only sentence of a text."""
    before, after = mark.string[: mark.start()], mark.string[mark.end() :]
    return bool(_SENTENCE_BEGINS.fullmatch(before) and _SENTENCE_GOES_ON.fullmatch(after))


def _kind_of(mark: re.Match[str]) -> str:
    """Return what a mark does, a key of `_STEPS` or ``"boxed"``; empty if it is no mark."""
    if mark["boxed"] or mark["closed"]:
        return "boxed" if mark["boxed"] else "end"
    if mark["channel"] is not None:
        words = _WORDS.findall(mark["channel"].lower())
        return "channel" if _ANSWERS.isdisjoint(words) else "final"
    role = mark["role"] or mark["speaker"] or mark["alone"]
    if role:
        return "model" if role.lower() in _MODELS else "other"
    return "begin" if mark["role"] is not None else _kind_of_tag(mark)


def _kind_of_tag(mark: re.Match[str]) -> str:
    """Return what a tag or token does, by the words of its name."""
    name = mark["tag"] or mark["bracketed"] or mark["square"]
    words = [word.lower() for word in _WORDS.findall(name)]
    parts = [word.lower() for word in _WORDS.findall(name.rpartition(":")[2])]  # of seed:eos, eos
    closes = name.startswith("/") or not _ENDING.isdisjoint(words)
    core = [word for word in words if word not in _ENDING | _BEGINNING | _OF_NAMES]
    slash = "/" if closes else ""
    if name in _OF_GEMMA:
        return _OF_GEMMA[name]
    if mark[0].endswith("/>"):  # an empty tag
        return "begin" if core and core[-1] in _THOUGHTS else ""
    if core and core[-1] in _THOUGHTS:
        return f"{slash}thought"
    if core and _ANSWERS.issuperset(core):
        return f"{slash}answer"
    joined = slash + "".join(parts)
    if mark["square"]:
        return _OF_MISTRAL.get(joined) or _OF_TURNS.get(joined, "")
    is_token = mark[0][1] in "|\uff5c"
    return _OF_TURNS.get(joined) or (_OF_ROLES.get(joined, "") if is_token else "")


def _in_braces(text: str, start: int) -> tuple[str, int]:
    """Return what stands in braces that begin before `start`, and the place behind them."""
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if not depth:
            return _without_macro(text[start:at]), at + 1
    return text[start:], len(text)


def _without_macro(text: str) -> str:
    macro = _MACRO.match(text)
    return text[macro.end() : -1] if macro and text.endswith("}") else text
