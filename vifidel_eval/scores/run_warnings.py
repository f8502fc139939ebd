"""What a run says beside its scores: warnings, each given once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from statistics import fmean, median

import numpy as np

from ..annotations import ObjectLabels
from ..errors import warn
from ..evaluation import Evaluation
from ..io.image_ids import ImageId
from ..io.text_tables import in_a_row
from ..scorers.base import Scorer
from ..scorers.explaining import uncombined
from ..scorers.word_vectors import WordVectorScorer
from ..words.content_words import STOP_WORDS, foreign_language, unsegmented_text
from ..words.word_vectors import load_vectors
from .alignment import Aligned, System, pooled
from .scores import Scores
from .systems import column_names, differ, lengths

# Scores may follow lengths: from more words than these, or means that differ by more than a factor.
_LONG = 60
_FACTOR = 2
# What compares n-grams, or their order, with captions that are about as long.
_OF_SHORT_TEXTS = frozenset({"BLEU", "CIDEr", "ROUGE_L"})
# Captions are out of its range if they are on average so many times as long as the references, and
# their score is below this. Of ten vision-language models on 112 images of val2017, five are as
# long, with CIDEr up to .25 and BLEU-4 up to .06; the others have at least .61 and .11.
_TIMES_AS_LONG = 3
_NEAR_ZERO = 0.05
_MANY_LABELS = 60  # more labels than these are more than captions can cover
_ALMOST_ALL = 0.95  # from this share on, almost all scores are the lowest possible
_FEWEST = 10  # fewer images say nothing
_FEW = 3  # more systems are not named one by one
_SAME = 0.1  # from this share of images on, the same caption is suspicious
_AS_GOOD_AS_ZERO = 1e-6  # BLEU without a common n-gram is not quite 0
_WORD = re.compile(r"\w+")

# Where the vectors or the stop words of a language are given.
_OPTIONS = {"vectors": "--vectors FILE (vectors=)", "stop words": "--stop-words FILE (stop_words=)"}


def warn_of_language(
    systems: Sequence[System],
    references: Mapping[ImageId, Sequence[str]] | None,
    scorers: Mapping[str, Scorer],
) -> None:
    """Warn of the language of systems' captions and references, as `warn_of_texts` does."""
    texts = {f"system {s.name!r}": list(s.captions.values()) for s in systems}
    if references is not None:
        texts["the references"] = list(chain.from_iterable(references.values()))
    warn_of_texts(texts, scorers)


def warn_of_texts(texts: Mapping[str, Sequence[str]], scorers: Mapping[str, Scorer]) -> None:
    """Warn if texts are not English, but vectors or stop words of metrics are.

    Messages call texts by their names. Those without blanks between words are said before that,
    whatever their language.
    """
    _warn_of_no_blanks(texts, scorers)
    english: dict[str, list[str]] = {option: [] for option in _OPTIONS}
    for name, scorer in scorers.items():
        for part in uncombined([scorer]):
            if isinstance(part, WordVectorScorer):
                if part.space.vectors is load_vectors(None):
                    english["vectors"].append(name)
                if part.space.stop_words == STOP_WORDS:
                    english["stop words"].append(name)
    english = {option: names for option, names in english.items() if names}
    if not english:
        return
    whose: dict[str, list[str]] = {}
    examples: dict[str, str] = {}
    for side, of_side in texts.items():
        language = foreign_language(of_side)
        if language is not None:
            name, shown = language
            whose.setdefault(name, []).append(side)
            examples.setdefault(name, ", ".join(map(repr, shown)))
    if not whose:
        return
    seems = "; ".join(
        f"captions of {in_a_row(sides)} seem to be {name} ({examples[name]})"
        for name, sides in whose.items()
    )
    metrics = dict.fromkeys(chain.from_iterable(english.values()))
    warn(
        f"{seems}, but the {' and '.join(english)} of {in_a_row(metrics)} are English, so the "
        "scores say little. Give those of that language: "
        f"{' and '.join(_OPTIONS[w] for w in english)}."
    )


def _warn_of_no_blanks(texts: Mapping[str, Sequence[str]], scorers: Mapping[str, Scorer]) -> None:
    """Warn of texts without blanks between words, in which metrics find no words."""
    metrics = _compare_words(scorers)
    by_side = (
        {side: unsegmented_text(of_side) for side, of_side in texts.items()} if metrics else {}
    )
    examples = {side: example for side, example in by_side.items() if example is not None}
    if examples:
        warn(
            f"captions of {in_a_row(examples)} have no blanks between words "
            f"({next(iter(examples.values()))!r}), so that {in_a_row(metrics)} cannot tell words "
            "apart: segment captions and references alike, with a word segmenter of their "
            "language, and put blanks between words."
        )


def _compare_words(scorers: Mapping[str, Scorer]) -> list[str]:
    """Return the metrics that compare words, as blanks separate them."""
    return [
        name
        for name, scorer in scorers.items()
        if any(
            isinstance(part, WordVectorScorer) or part.method() in _OF_SHORT_TEXTS
            for part in uncombined([scorer])
        )
    ]


def warn_of_answers(systems: Iterable[System]) -> None:
    """Warn of refusals and other answers without a caption, and of one text for many images."""
    for system in pooled(systems):
        answers = system.answers.values()
        silent = [answer for answer in answers if answer.why_nothing not in ("", "empty")]
        total = len(system.captions)
        if silent:
            refusals = sum(answer.why_nothing == "a refusal" for answer in silent)
            kinds = {"refusals": refusals, "only reasoning": len(silent) - refusals}
            counted = ", ".join(f"{kind}: {number}" for kind, number in kinds.items() if number)
            claim = "claims" if len(silent) == 1 else "claim"
            warn(
                f"{len(silent)} of {total} texts of system {system.name!r} {claim} nothing "
                f"({counted}), such as {silent[0].written.strip()!r:.60}. Rates of what is made up "
                "leave them out, and their VIFIDEL-R and VIFIDEL-F are 0."
            )
        texts = Counter(text for text in system.captions.values() if text)
        text, number = texts.most_common(1)[0] if texts else ("", 0)
        if number >= max(_FEWEST, _SAME * total):
            warn(
                f"{number} of {total} captions of system {system.name!r} are the same, "
                f"{text!r:.60}: is it about the images?"
            )


def lengths_matter(systems: Iterable[System]) -> bool:
    """Return whether scores are to be read beside captions' lengths; warn if they differ much."""
    claims = {system.name: system.claims for system in systems}
    words = {name: lengths(captions) for name, captions in claims.items() if captions}
    if not words:
        return False
    means = {name: fmean(of_system) for name, of_system in words.items()}
    shortest, longest = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    reasons = []
    if means[longest] > _FACTOR * means[shortest]:
        reasons.append(
            f"captions of system {longest!r} have {means[longest]:.1f} words on average, those "
            f"of {shortest!r} {means[shortest]:.1f}"
        )
    long = {name: sum(n > _LONG for n in of_system) for name, of_system in words.items()}
    counted = [
        f"{count} of {len(words[name])} captions of system {name!r}"
        for name, count in long.items()
        if count
    ]
    if len(counted) > _FEW:
        counted = [f"some captions of {len(counted)} systems"]
    if counted:
        reasons.append(f"{', '.join(counted)} have more than {_LONG} words")
    if reasons:
        warn(
            f"{'; '.join(reasons)}: longer captions say more that can be wrong or unmatched, so "
            "read the scores together with the lengths."
        )
    return bool(reasons) or differ(means[longest], means[shortest])


def warn_of_tags(objects: ObjectLabels) -> None:
    """Warn if half of the images with a label have more than 60, as lists of tags have."""
    labels = [len(of_image) for of_image in objects.values() if of_image]
    usual = median(labels) if labels else 0
    if usual > _MANY_LABELS:
        warn(
            f"{objects.where}: images have {usual:g} different labels (median), more than "
            "captions can cover, so VIFIDEL and VIFIDEL-R are low for any caption: read "
            "VIFIDEL-P for what captions say, and VIFIDEL-H for what they make up."
        )


def warn_of_scores(scores: Scores, aligned: Aligned, scorers: Mapping[str, Scorer]) -> None:
    """Warn of scores that say little, each once and for one cause."""
    explained = set(_warn_out_of_range(scores, aligned, scorers))
    texts = [caption for system in aligned.systems for caption in system.captions.values()]
    if unsegmented_text(texts) is not None:  # `warn_of_language` said what is wrong
        of_words = _compare_words(scorers)
        explained |= {
            column for column, metric in column_names(scorers).items() if metric in of_words
        }
    _warn_of_floor(scores, scorers, explained)
    if any(part.method() == "CIDEr" for part in uncombined(scorers.values())):
        _warn_of_common_words(scores, aligned)


def _warn_out_of_range(
    scores: Scores, aligned: Aligned, scorers: Mapping[str, Scorer]
) -> Collection[str]:
    """Warn if captions are so long that metrics of short texts are near zero: these columns."""
    words = lengths(chain.from_iterable(aligned.images.values()))
    if not words:
        return ()
    short = fmean(words)
    of_short_texts = {
        column.name
        for scorer in scorers.values()
        if scorer.method() in _OF_SHORT_TEXTS
        for column in scorer.columns
    }
    near_zero: dict[str, list[str]] = {}
    for system in aligned.systems:
        words = lengths(system.captions.values())
        if words and fmean(words) > _TIMES_AS_LONG * short:
            for column, evaluation in scores.evaluations[system.name].items():
                if column in of_short_texts and evaluation.score < _NEAR_ZERO:
                    near_zero.setdefault(column, []).append(system.name)
    if near_zero:
        whose = dict.fromkeys(chain.from_iterable(near_zero.values()))
        warn(
            f"{', '.join(near_zero)} near zero: captions of {', '.join(map(repr, whose))} are "
            f"more than {_TIMES_AS_LONG} times as long as the references, which have {short:.1f} "
            "words on average. These metrics compare texts of similar length: differences "
            "between their scores say nothing here."
        )
    return near_zero


def _warn_of_floor(
    scores: Scores, scorers: Mapping[str, Scorer], explained: Collection[str]
) -> None:
    """Warn if almost all scores of a metric are 0 in all its columns that are not `explained`."""
    names = column_names(scorers).items()
    of_raw = [column for column, text in scores.signatures.items() if "|norm:no|" in text]
    explained = {*explained, *of_raw}  # such scorers say so themselves
    metric_of = {column: metric for column, metric in names if column not in explained}
    at_floor: dict[str, list[str]] = {}
    mute = False  # whether most captions have no word
    for system, of_column in scores.evaluations.items():
        columns_of: dict[str, list[Evaluation]] = {}
        for column, e in of_column.items():
            if column in metric_of and e.ranked and not e.lower_is_better:
                columns_of.setdefault(metric_of[column], []).append(e)
        for metric, columns in columns_of.items():
            if min(map(_share_at_zero, columns)) >= _ALMOST_ALL:
                at_floor.setdefault(metric, []).append(repr(system))
                mute |= any(2 * e.counts.get("no_words", 0) > len(e.ids) for e in columns)
    if not at_floor:
        return
    metrics = "; ".join(f"{metric} of {in_a_row(names)}" for metric, names in at_floor.items())
    cause = (
        "most captions have no usable word: are they in the script and language of the stop "
        "words and vectors?"
        if mute
        else "captions belong to other images than their ids say, or are in another language "
        "than the references or labels: look at some with `vifidel-eval explain --image ID`."
    )
    warn(f"almost all images have the lowest score, 0, under {metrics}; the likely cause: {cause}")


def _warn_of_common_words(scores: Scores, aligned: Aligned) -> None:
    """Warn if CIDEr is 0 because words in the references of all images have no weight."""
    weightless: dict[int, list[str]] = {}
    for system in aligned.systems:
        evaluation = scores.evaluations.get(system.name, {}).get("CIDEr")
        if evaluation is not None and np.nan_to_num(evaluation.scores).any():
            continue
        rows = aligned.rows_of(system)
        pairs = [pair for pair in zip(rows.captions, rows.references, strict=True) if pair[1]]
        shared = any(_words(caption) & _words(" ".join(of_row)) for caption, of_row in pairs)
        if len(pairs) == 1 or (shared and evaluation is not None):
            weightless.setdefault(len(pairs), []).append(repr(system.sample_of or system.name))
    for images, names in weightless.items():
        why = (
            "there is one image"
            if images == 1
            else (
                "all that captions share with their references is in the references of all "
                f"{images} images"
            )
        )
        warn(
            f"CIDEr of {in_a_row(dict.fromkeys(names))} is 0, because it weighs words by "
            f"how few images have them in their references, and {why}; score more images "
            "together."
        )


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _share_at_zero(evaluation: Evaluation) -> float:
    """Return the share of the images with a score that have the lowest; 0 of few."""
    defined = evaluation.scores[~np.isnan(evaluation.scores)]
    return float((defined <= _AS_GOOD_AS_ZERO).mean()) if len(defined) >= _FEWEST else 0.0
