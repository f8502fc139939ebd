"""What a language model writes around a caption, or in its place.

Around it stand fences, quotation marks, JSON, announcements such as *Caption:*. In its place stands
a refusal, which is read clause by clause. A clause *declines* if its speaker apologises, is a
language model, or cannot, may not or will not answer; it is *talk* if it asks, offers, thanks or
gives reasons. Everything else describes something. A refusal declines and describes nothing, so
that *I cannot identify the person, but the image shows a man* and *I cannot wait for this pizza*
are captions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

_WORDS = re.compile(r"[A-Za-z]+")
_FENCE = re.compile(r"(`{3,}|~{3,})(?:[ \t]*[\w-]{0,20}[ \t]*\n)?")
PAIRS = {
    **{mark: mark for mark in "\"'`"},
    **dict(zip("\u201c\u2018\u00ab\u201e\u300c", "\u201d\u2019\u00bb\u201c\u300d", strict=True)),
}
MARKUP = "*_#> \t"
_INTERJECTION = re.compile(
    r"(?:sure(?: thing)?|certainly|of course|absolutely|okay|ok|alright|got it|great question|no "
    r"problem|i(?:['\u2019]d| would) be (?:happy|glad) to[^.!?\n]{0,80}|(?:happy|glad) to "
    r"(?:help|assist)(?: you| with (?:that|this))?)\s?[!.,]+(?:\s+|$)",
    re.I,
)
# The last paragraph of an answer that talks to who asked.
_CLOSING = re.compile(
    r"\s*(?:please )?(?:let me know|feel free|(?:i )?hope (?:this|that) helps|would you like|"
    r"do you want me|is there anything|if you (?:need|want|would like|have any|['\u2019]d like))"
    r"\b[^\n]*",
    re.I,
)
_LONGEST_ANNOUNCEMENT = 250
_NAMES_A_TEXT = frozenset(
    "caption captions description descriptions answer response output summary alt json".split()
)
_HERE = ["what", "i", "see"], ["here", "you", "go"], ["here", "it", "is"]
_OF_LABELS = _NAMES_A_TEXT | frozenset(
    "a an the my your this that it its is s final short brief detailed concise one sentence single "
    "possible suggested generated image picture photo scene for of in english text and good could "
    "would might may be".split()
)


def unwrapped(text: str) -> str | None:
    """Return a text without its outermost fence, quotation marks or announcement; None if bare."""
    fence = _FENCE.match(text)
    if fence is not None:
        return text[fence.end() :].partition(fence[1])[0].strip()
    if text.startswith(("{", "[")):
        return _in_json(text)
    interjection = _INTERJECTION.match(text)
    if interjection is not None:
        return text[interjection.end() :]
    inside = _in_quotes(text)
    if inside is not None:
        return inside
    caption, _, last = text.rpartition("\n\n")
    if caption and _CLOSING.fullmatch(last):
        return caption
    return next((text[end:].lstrip(MARKUP) for end in _announcements(text)), None)


def _in_quotes(text: str) -> str | None:
    """Return what a text has in quotation marks, in ``**`` or in lines that begin with ``>``."""
    closing = PAIRS.get(text[:1])
    if closing and len(text) > 1 and text.endswith(closing):
        inside = text[1:-1]
        if text[0] not in inside and closing not in inside.replace("n't", "").replace("'s", ""):
            return inside
    if text.startswith("**") and text.endswith("**") and len(text) > 4 and "**" not in text[2:-2]:
        return text[2:-2]
    lines = text.splitlines() if text.startswith(">") else []
    if lines and all(line.startswith(">") for line in lines):
        return "\n".join(line[1:].strip() for line in lines)
    return None


def _in_json(text: str) -> str | None:
    """Return the only caption of a JSON object, by its name, or the only text of a list."""
    try:
        content = json.loads(text)
    except (RecursionError, ValueError):
        return None
    if isinstance(content, dict):
        content = [caption for name, caption in content.items() if _is_label(_words_of(name))]
    if not isinstance(content, list) or len(content) != 1 or not isinstance(content[0], str | None):
        return None
    return content[0] or ""


def _words_of(text: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(text)]


def _is_label(words: Sequence[str]) -> bool:
    """Return whether words name the text of a caption and nothing else."""
    return not _NAMES_A_TEXT.isdisjoint(words) and _OF_LABELS.issuperset(words)


def _announcements(text: str) -> Iterator[int]:
    """Yield where an announcement such as *Here is a caption:* ends, if a text begins with one."""
    line = text.find("\n", 0, _LONGEST_ANNOUNCEMENT)
    colon = text.find(":", 0, _LONGEST_ANNOUNCEMENT)
    for end in sorted(at for at in (line, colon) if at >= 0):
        head = text[:end].strip(f"{MARKUP}.!:")
        if any(mark in head for mark in ".!?\n"):
            return
        words = _words_of(head)
        if words and (_is_label(words) or _announces(words)):
            yield end + 1


def _announces(words: Sequence[str]) -> bool:
    """Return whether a line is about what follows: *here*, *below* or *the following*.

    In *A caption below the photo* and *A sign with the following answer*, it is the picture's.
    """
    if words[-3:] in _HERE:
        return True
    names_it = not _NAMES_A_TEXT.isdisjoint(words)
    return names_it and (
        "here" in words or "below" in (words[0], words[-1]) or "following" in words[:4]
    )


# What is quoted was not written by the speaker.
_QUOTED = re.compile('["\u201c][^"\u201c\u201d]*["\u201d]')
_CONTRACTIONS = (
    ("\u2019", "'"),
    ("cannot", "can not"),
    ("can't", "can not"),
    ("won't", "will not"),
    ("n't", " not"),
    ("i'm", "i am"),
    ("i've", "i have"),
    ("i'd", "i would"),
    ("i'll", "i will"),
    ("we're", "we are"),
    ("it's", "it is"),
    ("that's", "that is"),
    ("there's", "there is"),
)
# A clause ends with its sentence, before a conjunction that contrasts, and where after a comma
# somebody begins to describe.
_ENDS = re.compile(
    r"[.!?;:\n\u3002]+|\u2014| - |\b(?:but|however|though|although|nevertheless|nonetheless)\b|"
    r"\bso (?=i\b|we\b)|,(?=\s+(?:the|this|it|there|here|he|she|they|i|we|an?)\b)"
)


def _any(words: str) -> str:
    """Return a pattern of one of these words; a blank within one is written as an underscore."""
    return f"(?:{'|'.join(words.split()).replace('_', ' ')})"


_MOST_BEFORE = 8  # apologies and the like, before a clause describes something
# What may stand before the verdict of a clause: greetings and conjunctions.
_BEFORE = re.compile(
    r"(?:(?:oh|oops|uh|um|ah|well|hello|hi|hey|hmm|and|so|yet|thus|therefore|that(?! is\b)|okay|ok)"
    r"\b|(?:no|yes)(?=,))"
)
_APOLOGY = re.compile(
    r"(?:(?:i|we) (?:am|are) )?(?:\w+ )?(?:sorry|afraid)\b(?: about (?:that|this)| for (?:the|any) "
    r"\w+)?(?:, \w+$)?|"
    r"(?:(?:my|our|please accept my) )?(?:\w+ )?apolog(?:y|ies)\b(?: for (?:the|any) \w+)?|"
    r"(?:i|we) (?:do )?apologi[sz]e\b(?: for (?:the|any) \w+)?|(?:unfortunately|regrettably)\b|"
    r"(?:i|we) regret\b(?: to (?:say|inform you))?"
)
_MODEL = (
    r"(?:ai|a\.i|llm|language model|text-based model|chatbot|virtual assistant|ai assistant|"
    r"assistant|artificial intelligence)\b"
)
_OF_MODEL = _any(
    "that which who and so developed trained created designed made built based with without like "
    "model assistant system only by from"
)
_AS_A_MODEL = re.compile(
    rf"(?:as|being) (?:just |only )?an? [^,]{{0,60}}?{_MODEL}"
    rf"(?: {_OF_MODEL}\b[^,]{{0,60}}?)?(?:,|$|(?= (?:i|we)\b))"
)
_IS_A_MODEL = re.compile(rf"i am (?:\w+ )?an? [^,]{{0,60}}?{_MODEL}(?=,|$| {_OF_MODEL}\b)")
_QUOTES = re.compile(r", (?:says|reads|said)\b")

_WE = "(?:i|we) "
_ARE = "(?:am|are|was|were) "
_ADVERB = (
    r"(?:(?!(?:comp|rep)ly )\w+ly |just |still |also |at this time |at the moment |"
    r"in good conscience |be able to )*"
)
_ADVERBS = re.compile(_ADVERB)
_ALLOWED = _any(
    "able capable allowed permitted authori[sz]ed designed programmed equipped trained "
    "comfortable supposed in_a_position going"
)
# Before what somebody cannot, may not, will not or does not do.
_NOT = re.compile(
    rf"(?:(?:{_WE}{_ADVERB})?(?:can|could)|"
    rf"{_WE}{_ADVERB}(?:will|would|may|must|should|shall|do|did)) {_ADVERB}not\b|"
    rf"(?:{_WE}{_ADVERB})?(?:{_ARE}{_ADVERB})?(?:unable|incapable)\b(?: (?:to|of)\b)?|"
    rf"(?:{_WE}{_ADVERB}{_ARE}{_ADVERB})?not {_ADVERB}{_ALLOWED}\b(?: (?:to|of|with)\b)?|"
    rf"it is (?:not|im) ?{_any('possible appropriate')}(?: for me)? to\b|"
    rf"{_WE}(?:{_ADVERB}(?:must |have to |need to ))?{_ADVERB}"
    rf"{_any('refuse decline prefer_not would_prefer_not would_rather_not')}\b(?: to\b)?"
)
# Who cannot do one of these does not answer; who cannot ride a horse describes something.
_ANSWERING = re.compile(
    r"help(?! but\b| \w+ing\b)|share(?! my\b| an?\b)|(?:make|draw) (?:any |an? )?(?:assumption|"
    r"judge?ment|inference|conclusion|guess)|give (?:you|any|information|details|an answer)|"
    r"do (?:that|this|so|it)\b|"
    + _any(
        "assist provide describe identify recogni[sz]e name comply fulfill? answer respond reply "
        "process analy[sz]e interpret generate produce create write caption summari[sz]e offer "
        "support engage comment discuss continue proceed complete determine confirm verify assess "
        "evaluate perceive disclose reveal speculate guess infer participate accommodate perform "
        "feel_comfortable"
    )
    + r"\b(?! (?:if|whether)\b)"
)
# Who cannot see the picture does not answer; *I cannot see any zebra* describes it.
_LOOKING = re.compile(
    _any(
        "see find spot notice detect observe make_out receive get view access open load display "
        "look_at read decipher understand"
    )
    + r"\b(?P<what>.*)",
    re.S,
)
# *I don't know who this is*, but not *I don't know the breed of this dog*.
_KNOWING = re.compile(
    _any("tell say know be_sure be_certain") + r"(?: (?:you|for (?:sure|certain)|exactly))*"
    r"(?:$| (?:who|what|which|how|where|anything|the answer|from|about)\b)"
)
# Not even after an apology are these refusals.
_LIVING = re.compile(
    r"(?:wait|believe|think|stop|resist|imagine|help but|get enough|say no|go wrong|afford|live|"
    r"look away|take (?:my|our) eyes|remember|forget|(?:tell|say|determine|know) (?:if|whether))\b"
)
# Clauses that decline without a verb for it: *I have no access*, *I am not sure*.
_LACKING = re.compile(
    rf"{_WE}{_ADVERB}(?:do {_ADVERB}not {_ADVERB}(?:have|possess)|have no|lack) "
    r"(?:the |any |an? |enough |sufficient |direct |visual |real-time |personal )*"
    rf"(?:{_any('ability abilities access way information info details? permission')}|"
    r"capabilit\w+|means|context|image|picture|photo|vision|eyes|knowledge|opinions?|data|"
    r"(?:idea|clue)(?=$| who\b| what\b))\b|"
    rf"{_WE}{_ADVERB}{_ARE}{_ADVERB}not {_ADVERB}(?:sure|certain)\b(?! (?:if|whether)\b)|"
    r"it is against (?:my|our|the (?:rules|law|polic\w+|guidelines|terms))\b|"
    rf"(?:that|this|it) is (?:not something (?:that )?{_WE}(?:can|am|will)|"
    rf"something (?:that )?{_WE}(?:can|am|will) not)\b"
)
# The picture that was to be described, and nothing in it.
_PICTURE = re.compile(
    r"\s*(?:who|what|how|where|which)\b.*|"
    r"(?:\s*(?:an?|the|any|this|that|your|our|actual|attached|uploaded|visual|directly|or|and|"
    r"view|access|content|contents|of|from|in|to|me|here|you|have|has|been|provided|shared|"
    r"images?|pictures?|photos?|photographs?|files?|attachments?|attached|anything|it|them|"
    r"visuals?|messages?|chat|conversation|request|question|sent|for)\b,?)+\s*",
    re.S,
)
_IMAGE = r"(?:image|picture|photo|photograph|file|attachment|link)"
# Clauses about a picture that is missing, or that ask for one.
_NO_PICTURE = re.compile(
    r"(?:there is |i see |it (?:seems|looks|appears)(?: like| that)? (?:there is )?)?"
    rf"(?:no|not an?) (?:{_IMAGE}|description|caption|content|answer)\b"
    r"(?: (?:was|is|has been|here))?"
    r"(?: (?:attached|provided|uploaded|shared|included|given|available|visible|found|here|to "
    r"describe|(?:in|to|with) (?:your|this|the) \w+|yet))*\s*|"
    rf"there (?:is|does) not (?:(?:seem|appear) to be )?(?:an?|any) {_IMAGE}"
    r"(?: (?:attached|provided|uploaded|shared|here|(?:in|to|with) your \w+))*\s*|"
    rf"(?:the|your|this|an?) {_IMAGE}(?: (?:that|you|i|file|link|url|attached|provided|uploaded|"
    r"shared|sent|have|has|is|are|was|were|did|does|do|can|could|seems|appears|to|be)){0,8} not "
    r"(?:\w+ )?(?:be )?(?:load\w*|attach\w*|upload\w*|provided|available|accessible|accessed|"
    r"processed|opened|found|visible to me|visible|come through|coming through|display\w*)\b"
    r"(?! (?:on|to the|with|in colou?r)\b)[^,]*|"
    rf"(?:please|(?:can|could|would) you(?: please)?) "
    rf"(?:provide|upload|attach|send|share)\b[^,]{{0,40}}\b{_IMAGE}\b.*",
    re.S,
)
_TALK = re.compile(
    r"(?:please|if (?:you|there)|let me|let us|feel free|(?:can|could|would|do|will|are|did) "
    r"you|how "
    r"(?:can|may)|what (?:would|can|else|do you)|is there (?:anything|something)|thanks?|thank you|"
    r"while (?:i|we)\b|(?:i|we) (?:\w+ly )?(?:appreciate|understand|hope|wish|respect|strive|aim|"
    r"recommend|suggest|encourage|need you|would need)\b|"
    r"(?:i|we) (?:can|could|would|will|am|may|only|was)(?! (?:\w+ly )?(?:see|tell|spot|make out|"
    r"observe|identify|notice|recogni[sz]e|say|confirm|describe (?:a|two|three|some|"
    r"several)\b))\b|happy to|glad to|try\b|perhaps you|you "
    r"(?:can|may|could|might)|as (?:i|it|this|that)\b|because|since|due to|in order to|to (?:help|"
    r"assist|protect|respect|ensure)|for (?:privacy|safety|security|ethical|legal)|instead|"
    r"alternatively|my (?:capabilities|guidelines|training|programming|abilities|policy|purpose)|"
    r"(?:this|that|it) (?:is|goes|would|violates?|involves|may|might) .{0,80}\b(?:policy|policies|"
    r"guidelines?|privacy|capabilities|request|abilities|terms)\b|"
    r"(?:the|this|your) (?:request|question)\b)"
)
_OPENING = re.compile(
    r"[\W_]*"
    + _any(
        "i we i['\u2019]?m sorry my our apolog\\w+ unfortunately regrettably as being unable "
        "cannot can['\u2019]t please hello hi hey oh oops uh um ah well thanks? it it['\u2019]s "
        "that that['\u2019]s there no the your this an? if could can so very hmm okay ok yes not "
        "incapable while for"
    )
    + r"\b",
    re.I,
)
# Without one of these pieces of words nothing is declined; most captions have none.
DECLINING = (
    "not|Not |n't|n\u2019t|no |No |NO |nable|orry|polog|eclin|efus| lack|egret|fraid|nfortun|"
    "ncapab|AI|model|assist|gainst|lease"
).split("|")


def is_refusal(text: str) -> bool:
    """Return whether a text that has a piece of `DECLINING` is a refusal and nothing else."""
    if not _OPENING.match(text):
        return False
    lowered = _QUOTED.sub(" quotation ", text).lower()
    for short, long in _CONTRACTIONS:
        lowered = lowered.replace(short, long)
    declines = False
    for clause in _ENDS.split(lowered):
        kind = _kind(" ".join(clause.split()).strip(" ,*_-\"'()"), declines)
        if kind is None:
            return False
        declines |= kind
    return declines


def _kind(clause: str, declined: bool) -> bool | None:
    """Return True for a clause that declines, False for talk, None if it describes something.

    `declined` says whether a clause before it declines.
    """
    if _QUOTES.search(clause):
        return None
    declines = False
    for _ in range(_MOST_BEFORE):
        for before, declining in ((_BEFORE, False), (_APOLOGY, True), (_AS_A_MODEL, True)):
            beginning = before.match(clause)
            if beginning:
                clause, declines = clause[beginning.end() :].lstrip(" ,"), declines or declining
                break
        else:
            break
    if not clause:
        return declines
    if _LACKING.match(clause) or _IS_A_MODEL.match(clause) or _NO_PICTURE.fullmatch(clause):
        return True
    refused = _NOT.match(clause)
    if refused is not None:
        return _is_to_answer(clause[refused.end() :], declined or declines) or None
    return declines if _TALK.match(clause) else None


def _is_to_answer(deed: str, declined: bool) -> bool:
    """Return whether this has to be done to answer, so that who does not do it does not answer.

    After a clause that declined, that is so of everything but looking and living.
    """
    deed = _ADVERBS.sub("", deed.strip(), count=1)
    looking = _LOOKING.match(deed)
    if looking is not None:
        return _PICTURE.fullmatch(looking["what"] or " it") is not None
    if not deed or _ANSWERING.match(deed) or _KNOWING.match(deed):
        return True
    return declined and _LIVING.match(deed) is None
