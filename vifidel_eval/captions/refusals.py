"""Refusals: texts in which a language model says that it does not answer, and nothing else.

A text is read clause by clause. A clause *declines* if its speaker apologises, is a language model,
or cannot, may not or will not do something; it is *talk* if it asks, offers, thanks or gives
reasons. Everything else describes something. A refusal declines and describes nothing, so that *I
cannot identify the person, but the image shows a man* is a caption.
"""

from __future__ import annotations

import re

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
    ("there's", "there is"),
)
# A clause ends with its sentence, before a conjunction that contrasts, and where after a comma
# somebody begins to describe.
_ENDS = re.compile(
    r"[.!?;:\n\u3002]+|\u2014| - |\b(?:but|however|though|although|nevertheless|nonetheless)\b|"
    r"\bso (?=i\b|we\b)|,(?=\s+(?:the|this|it|there|here|he|she|they|i|we|an?)\b)"
)
_ADVERB = r"(?:\w+ly |just |still |also |really |at this time |at the moment )*"

_MOST_BEFORE = 8  # apologies and the like, before a clause describes something
# What may stand before the verdict of a clause: greetings and conjunctions.
_BEFORE = re.compile(
    r"(?:oh|well|hello|hi|hey|hmm|and|so|yet|thus|therefore|that|okay|ok)\b|(?:no|yes)(?=,)"
)
_APOLOGY = re.compile(
    r"(?:(?:i|we) (?:am|are) )?(?:\w+ )?(?:sorry|afraid)\b(?: about (?:that|this)| for (?:the|any) "
    r"\w+)?|(?:(?:my|our|please accept my) )?(?:\w+ )?apolog(?:y|ies)\b(?: for (?:the|any) \w+)?|"
    r"(?:i|we) (?:do )?apologi[sz]e\b(?: for (?:the|any) \w+)?|(?:unfortunately|regrettably)\b|"
    r"(?:i|we) regret\b(?: to (?:say|inform you))?"
)
_MODEL = (
    r"(?:ai|a\.i|llm|language model|text-based model|chatbot|virtual assistant|ai assistant|"
    r"assistant|artificial intelligence)\b"
)
_AS_A_MODEL = re.compile(
    rf"(?:as|being) (?:just |only )?an? [^,]{{0,60}}?{_MODEL}[^,]{{0,40}}(?:,|$)"
)
_IS_A_MODEL = re.compile(rf"i am (?:\w+ )?an? [^,]{{0,60}}?{_MODEL}")
_NOT_ABLE = re.compile(
    rf"(?:(?:i|we) {_ADVERB})?(?:(?:am|are|was|were) {_ADVERB})?(?:unable|incapable)\b|"
    rf"(?:i|we) {_ADVERB}(?:am|are|was|were) {_ADVERB}not {_ADVERB}(?:able|capable|allowed|"
    r"permitted|"
    r"authori[sz]ed|designed|programmed|equipped|trained|comfortable|supposed|in a position|sure|"
    r"certain|going to)\b|"
    rf"not able to\b|(?:i|we) {_ADVERB}do {_ADVERB}not {_ADVERB}(?:know|feel comfortable|possess|"
    r"identify|recogni[sz]e|support|process|provide|describe|engage|comment|(?:actually )?have "
    r"(?:the |any |an? |enough |sufficient |direct |visual |real-time |personal )*(?:ability|"
    r"abilities|access|way|information|info|details?|permission|capabilit\w+|means|context|image|"
    r"picture|photo|vision|eyes|knowledge|opinions?|data))\b|"
    rf"(?:i|we) {_ADVERB}(?:have no|lack|refuse|decline|must decline|have to decline|need to "
    r"decline|prefer not|would prefer not|would rather not|must refuse)\b|"
    r"it is (?:not|im)(?: )?(?:possible|appropriate)(?: for me)? to\b|"
    r"it is against (?:my|the|our)\b"
)
_MAY_NOT = re.compile(
    rf"(?:(?:(?:i|we) {_ADVERB})?(?:can|could)|(?:i|we) {_ADVERB}(?:will|would|may|must|should|"
    rf"shall)|(?:i|we) {_ADVERB}(?:do|did)(?= not "
    r"(?:see|receive|get|find|detect|notice|observe)\b)) "
    rf"{_ADVERB}not\b ?{_ADVERB}(?P<rest>.*)",
    re.S,
)
# Of these it is the picture that is described, or a life: *I cannot see any zebra*.
_LOOKING = re.compile(
    r"(?:see|find|spot|notice|detect|observe|make out|receive|get|view)\b(?P<what>.*)", re.S
)
_LIVING = re.compile(
    r"(?:wait|believe|think|stop|resist|imagine|help but|get enough|say no|go wrong|afford|live|"
    r"remember|forget|(?:tell|say|determine|know) (?:if|whether))\b"
)
_PICTURE = re.compile(
    r"\s*(?:who|what|how|where|which)\b.*|"
    r"(?:\s*(?:an?|the|any|this|that|your|actual|attached|uploaded|visual|directly|or|and|"
    r"view|access|content|contents|of|from|in|to|me|here|you|have|has|been|provided|shared|"
    r"images?|pictures?|photos?|photographs?|files?|attachments?|attached|anything|it|them|"
    r"visuals?)\b,?)+\s*",
    re.S,
)
_NO_PICTURE = re.compile(
    r"(?:there is |i see |it (?:seems|looks|appears)(?: like| that)? (?:there is )?)?"
    r"(?:no|not an?) "
    r"(?:image|picture|photo|photograph|file|attachment|description|caption|content|answer)\b"
    r"(?: (?:was|is|has been|here))?"
    r"(?: (?:attached|provided|uploaded|shared|included|given|available|visible|found|here|to "
    r"describe|(?:in|to|with) (?:your|this|the) \w+|yet))*\s*|"
    r"(?:the|your|this|an?) (?:image|picture|photo|photograph|file|attachment|link)(?: \w+){0,6}? "
    r"not "
    r"(?:\w+ )?(?:load\w*|attach\w*|upload\w*|provided|available|accessible|visible to me|come "
    r"through|open\w*|display\w*)\b.*",
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
    r"[\W_]*(?:i|we|i['\u2019]?m|sorry|my|our|apolog\w+|unfortunately|regrettably|as|being|unable|"
    r"cannot|can['\u2019]t|please|hello|hi|hey|oh|well|thanks?|it|it['\u2019]s|there|no|the|your|this|"
    r"an?"
    r"|if|could|can|so|very|hmm|okay|ok|yes|not|incapable|while|for)\b",
    re.I,
)
# Without one of these pieces of words nothing is declined; most captions have none.
_DECLINING = (
    *("not", "n't", "n\u2019t", "no ", "No ", "NO ", "nable", "orry", "polog", "eclin", "efus"),
    *(" lack", "egret", "fraid", "nfortun", "ncapab", "AI", "model", "assist"),
)


def is_refusal(text: str) -> bool:
    """Return whether a text declines to answer, and describes nothing."""
    if not any(piece in text for piece in _DECLINING) or not _OPENING.match(text):
        return False
    lowered = _QUOTED.sub(" quotation ", text).lower()
    for short, long in _CONTRACTIONS:
        lowered = lowered.replace(short, long)
    declines = False
    for clause in _ENDS.split(lowered):
        said = " ".join(clause.split()).strip(" ,*_-\"'()")
        kind = _kind(said)
        if kind is None:
            return False
        declines |= kind
    return declines


def _kind(clause: str) -> bool | None:
    """Return True for a clause that declines, False for talk, None if it describes something."""
    declines = False
    for _ in range(_MOST_BEFORE):
        for before, declining in ((_BEFORE, False), (_APOLOGY, True), (_AS_A_MODEL, True)):
            found = before.match(clause)
            if found:
                clause, declines = clause[found.end() :].lstrip(" ,"), declines or declining
                break
        else:
            break
    if not clause:
        return declines
    if _NOT_ABLE.match(clause) or _IS_A_MODEL.match(clause) or _NO_PICTURE.fullmatch(clause):
        return True
    refused = _MAY_NOT.match(clause)
    if refused is not None:
        rest = refused["rest"]
        looking = _LOOKING.match(rest)
        if looking is not None and not _PICTURE.fullmatch(looking["what"] or " it"):
            return None
        return None if _LIVING.match(rest) else True
    return declines if _TALK.match(clause) else None
