"""Explanations as text: findings of systems, answers about an image, and single captions."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import click

from ..captions.generated import AROUND, NO_CLAIM, REASONING
from ..evaluation import COUNTS
from ..explain.explanation import MARKS, Explanation, shortened, tables
from ..explain.findings import MADE_UP, MISSED, UNCONFIRMED, Findings
from ..explain.sentences import JudgedSentence, MentionedThing, mentioned_things
from ..io.digits import rounded
from ..io.text_tables import Cell, Table, counted
from ..kernels.known import REFERENCES, Mention, Verdict
from ..scorers.vifidel_prf import PartsOfF
from ..scores.verdict import figure
from .layout import fitted, folded, line_width

_COLOURS = {"!": "red", "+": "green"}  # of rows by their marks
_FINDING_COLOURS = {MADE_UP: "red", MISSED: "yellow", UNCONFIRMED: None}
_NOTHING_FOUND = "Nothing is made up, and no object is missed."

# Characters: of an example in Markdown and LaTeX, and of one in a terminal at least.
_EXAMPLE_WIDTH, _LEAST_EXAMPLE = 60, 12
# Of a sentence at most and at least, and of its number, P and the space between columns.
_SENTENCE_WIDTH, _LEAST_SENTENCE, _BESIDE_SENTENCE = 40, 16, 2 + 6 + 3 * 2
# Of what stands before an answer, and of an answer at least.
_BEFORE_ANSWER, _LEAST_ANSWER = len("Sample    0.0000   "), 20


def findings_text(
    findings: Mapping[str, Findings], metric: str, top: int, style: str, notes: Sequence[str]
) -> str:
    """Return a summary and at most `top` findings of a kind per system; CSV has findings alone."""
    if style == "csv":
        return findings_table(findings, top).render(style)
    summary = summary_table(findings, metric)
    if style != "table":
        below = findings_table(findings, top, notes)
        return f"{summary.render(style)}\n\n{below.render(style)}"
    width = line_width()
    shown = [part.render(style) for part in fitted(summary, style, width, "Captions of")]
    for table, colour in findings_in_width(findings, top, width):
        shown.append(_rendered(table, style, width, [colour] * len(table.rows)))
    return "\n\n".join([*shown, _footer(notes, style, width)])


def summary_table(systems: Mapping[str, Findings], metric: str) -> Table:
    """Return one row per system; rates are named after the columns of the metric that judges."""
    of_answers = [
        count
        for count in COUNTS
        if count.key in (NO_CLAIM, REASONING, AROUND)
        and any(getattr(findings, count.key) for findings in systems.values())
    ]
    by_references = any(findings.judged_by_references for findings in systems.values())
    rows: list[dict[str, Cell]] = [
        {
            "System": name,
            _captions(systems): f.captions,
            f"{metric}s": f.hallucinating / f.rated if f.rated else None,
            "Mentions": f.mentions,
            "Judged": f.judged,
            "Unconfirmed": f.unconfirmed,
            **({"Judged by: references": f.judged_by_references} if by_references else {}),
            f"{metric}i": f.not_in_image / f.judged if f.judged else None,
            "Objects": f.objects,
            "Missed": _share(f.unmentioned, f.objects),
            "Undefined": f.undefined,
            "No words": f.wordless,
            **{count.header: getattr(f, count.key) for count in of_answers},
            "Unknown words": f.unknown_words,
        }
        for name, f in systems.items()
    ]
    return Table(list(rows[0]) if rows else [], [list(row.values()) for row in rows])


def findings_table(
    systems: Mapping[str, Findings], number: int, notes: Sequence[str] = ()
) -> Table:
    """Return the most frequent findings of each system, at most `number` of a kind."""
    headers = ["System", "Finding", "What", "Class", "Images", "Example", _captions(systems)]
    rows: list[list[Cell]] = [
        [
            name,
            kind,
            finding.what,
            finding.category,
            " ".join(f"{i}{findings.said_in(finding, i)}" for i, _ in finding.examples),
            finding.example(_EXAMPLE_WIDTH),
            finding.captions,
            finding.of,
            _share(finding.captions, findings.captions),
        ]
        for name, findings in systems.items()
        for kind, of_kind in findings.by_kind.items()
        for finding in of_kind[:number]
    ]
    notes = notes if rows else [_NOTHING_FOUND, *notes]
    return Table([*headers, "Of", "Share"], rows, notes, texts=6)


def findings_in_width(
    systems: Mapping[str, Findings], number: int, width: int
) -> Iterator[tuple[Table, str | None]]:
    """Yield a table for each system and kind, which fits a terminal, and the colour of its rows."""
    listed = [
        (f"{name}: {kind}", findings, of_kind, _FINDING_COLOURS[kind])
        for name, findings in systems.items()
        for kind, of_kind in findings.by_kind.items()
        if of_kind
    ]
    caption = _captions(systems)
    for title, findings, of_kind, colour in listed:
        shown = of_kind[:number]
        some = f", {number} of {len(of_kind)}" if len(of_kind) > number else ""
        rows: list[list[Cell]] = [
            [
                _with_class(finding.what, finding.category or finding.what),
                "",
                finding.captions,
                finding.of,
                _share(finding.captions, findings.captions),
            ]
            for finding in shown
        ]
        headers = ["What", f"Image: {caption.lower()[:-1]}", caption, "Of", "Share"]
        without = Table(headers, rows, texts=2).render("table").splitlines()[1]
        room = width - len(without) + len(headers[1])
        for row, finding in zip(rows, shown, strict=True):
            image_id = finding.examples[0][0]
            image = f"{image_id}{findings.said_in(finding, image_id)}: "
            row[1] = image + finding.example(max(room - len(image), _LEAST_EXAMPLE))
        yield Table(headers, rows, texts=2, title=f"{title}{some}"), colour
    if not listed:
        yield Table([], [], title=_NOTHING_FOUND), None


def _captions(systems: Mapping[str, Findings]) -> str:
    """Return what tables call captions."""
    several = any(findings.answers is not None for findings in systems.values())
    return "Answers" if several else "Captions"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def answers_text(
    answers: Mapping[str, Sequence[Explanation]], metric: str, style: str, notes: Sequence[str]
) -> str:
    """Return what each system's answers about an image mention; CSV has one table of it."""
    if style == "csv":
        return _answers_table(answers).render(style)
    width = line_width()
    shown = []
    for name, of_image in answers.items():
        things, texts = _answers_tables(of_image, name, metric, width if style == "table" else None)
        colours = [_COLOURS.get(str(row[0])) for row in things.rows]
        shown += [_rendered(things, style, width, colours), _rendered(texts, style, width)]
    return "\n\n".join([*shown, _footer(notes, style, width)])


def _answers_tables(
    answers: Sequence[Explanation], system: str, metric: str, width: int | None = None
) -> list[Table]:
    """Return what the answers about an image mention, and the answers with the metric's scores.

    Answers are cut to fit lines of `width` characters.
    """
    room = None if width is None else max(width - _BEFORE_ANSWER, _LEAST_ANSWER)
    rows: list[list[Cell]] = [
        [
            MARKS[str(thing.verdict)],
            _words_of_thing(thing),
            str(thing.verdict),
            thing.supported_by,
            None if math.isnan(thing.support) else f"{thing.support:.2f}",
            f"{thing.said_in} of {thing.answers}",
        ]
        for thing in mentioned_things(answers)
    ]
    image = answers[0].image_id
    things = Table(
        ["", "Mention", "Verdict", "Nearest evidence", "Support", "Said in"],
        rows,
        notes=_answers_summary(answers),
        texts=4,
        title=f"{system}, image {image}: {counted(len(answers), 'answer')}",
    )
    texts: list[list[Cell]] = [
        [str(at), rounded(answer.score), shortened(answer.shown, room)]
        for at, answer in enumerate(answers, 1)
    ]
    return [things, Table(["Sample", metric, "Answer"], texts, texts=3)]


def _answers_table(systems: Mapping[str, Sequence[Explanation]]) -> Table:
    """Return what the answers of several systems mention, a row per system and thing."""
    headers = ["System", "Image", "Mention", "Class", "Verdict", "Nearest evidence", "Support"]
    rows: list[list[Cell]] = []
    for name, answers in systems.items():
        image = str(answers[0].image_id)
        for thing in mentioned_things(answers):
            words = ", ".join(thing.words)
            rows.append([name, image, words, thing.category, str(thing.verdict)])
            rows[-1] += [thing.supported_by, thing.support, thing.said_in, thing.answers]
    return Table([*headers, "Said in", "Answers"], rows, texts=6)


def _words_of_thing(thing: MentionedThing) -> str:
    """Return a thing's words, with how many answers have each if there are several."""
    words = [*thing.words]
    if len(words) > 1:
        words = [f"{word} {number}" for word, number in thing.words.items()]
    return _with_class(", ".join(words), thing.category)


def _with_class(words: str, category: str) -> str:
    return words if words == category else f"{words} ({category})"


def _answers_summary(answers: Sequence[Explanation]) -> list[str]:
    """Return what is known of the image, and which objects answers do not mention."""
    if not answers[0].known:
        return ["Nothing is known about the image: it has no usable object label and no reference."]
    unmentioned = Counter(label for answer in answers for label in answer.unmentioned)
    left_out = [f"{label} in {k} of {len(answers)}" for label, k in unmentioned.most_common()]
    notes = [f"Missed: {', '.join(left_out) or 'none'}"]
    if answers[0].denied:
        notes.append(f"Looked for and not there: {', '.join(answers[0].denied)}")
    return notes


def explanations_text(
    explained: Mapping[str, Explanation],
    parts: Mapping[str, PartsOfF],
    sentences: Mapping[str, Sequence[JudgedSentence]],
    plan: bool,
    style: str,
    notes: Sequence[str],
) -> str:
    """Return each system's explanation, with its `sentences` if several; CSV has the plan alone.

    It is of VIFIDEL-F where its `parts` are given, and with `plan`, or without `parts`, also of
    the metric that moves labels onto words.
    """
    if style == "csv":
        return plan_table(explained).render(style)
    width = line_width()
    shown = []
    for name, explanation in explained.items():
        listed = []
        if name in parts:
            listed.append(claims_table(explanation, parts[name], name))
        if plan or name not in parts:
            listed += tables(explanation, name, plan)
        if name in sentences:
            listed.insert(1, sentence_table(explanation.caption, sentences[name], width))
        for table in listed:
            colours = [_COLOURS.get(str(row[0])) for row in table.rows]
            shown.append(_rendered(table, style, width, colours))
    return "\n\n".join([*shown, _footer(notes, style, width)])


_SIGNS = {Verdict.ABSENT: "!", Verdict.WRONG_DENIAL: "!", Verdict.UNCONFIRMED: "?"}


def claims_table(explanation: Explanation, parts: PartsOfF, system: str) -> Table:
    """Return a line per thing that a caption claims, in its order, and the parts of VIFIDEL-F."""
    rows: list[list[Cell]] = [
        [
            _SIGNS.get(mention.verdict, "+"),
            _with_class(mention.words, mention.category),
            mention.shown,
            _reason(mention),
        ]
        for mention in explanation.mentions
    ]
    rows += [
        ["+" if word.attribute.is_so else "!", word.word, word.verdict, "attributes of the image"]
        for word in explanation.words
        if word.attribute is not None
    ]
    missed = ", ".join(explanation.unmentioned)
    notes = [f"Missed: {missed}."] if missed else []
    notes.append(_formula(parts))
    image = f"{system}, image {explanation.image_id}"
    title = f"{image}: {_marked(explanation)}"
    if not rows:
        notes.insert(0, "The caption mentions no thing that can be judged.")
    return Table(["", "Claim", "Verdict", "What decided"], rows, notes, texts=4, title=title)


def _marked(explanation: Explanation) -> str:
    """Return the caption with a sign behind each thing that is made up or unconfirmed."""
    text, done = "", 0
    for mention in sorted(explanation.mentions, key=lambda mention: mention.end):
        sign = _SIGNS.get(mention.verdict, "")
        if sign and mention.end > done:
            text += f"{explanation.caption[done : mention.end]}[{sign}]"
            done = mention.end
    return " ".join((text + explanation.caption[done:]).split()) if text else explanation.shown


def _reason(mention: Mention) -> str:
    """Return what decided about a thing, in words."""
    nearest = ""
    if mention.supported_by is not None and not math.isnan(mention.support):
        nearest = f"{mention.supported_by} ({figure(mention.support)})"
    if mention.verdict is Verdict.THERE:
        return f"nearest evidence: {nearest}" if nearest else "named by the evidence"
    if mention.verdict is Verdict.UNCONFIRMED:
        return "nobody looked for it, and no reference mentions it"
    if mention.verdict is Verdict.WRONG_DENIAL:
        return "the evidence names it"
    by_references = "no reference mentions it"
    why = by_references if mention.judged_by == REFERENCES else "looked for and not found"
    return f"{why}; nearest: {nearest}" if nearest else why


def _formula(parts: PartsOfF) -> str:
    """Return what VIFIDEL-F is made of, in a sentence."""
    if math.isnan(parts.f):
        return "VIFIDEL-F is undefined: nothing is known of the image."
    p = parts.supported * parts.kept
    factor = (
        f" (supported {figure(parts.supported)}, times {figure(parts.kept)} for what is made up)"
    )
    wording = "" if math.isnan(parts.wording) else f", wording W {figure(parts.wording)}"
    return (
        f"VIFIDEL-F {figure(parts.f)}: fidelity P {figure(p)}{factor if parts.kept < 1 else ''}, "
        f"coverage R {figure(parts.r)}{wording}."
    )


def sentence_table(
    caption: str, sentences: Sequence[JudgedSentence], width: int | None = None
) -> Table:
    """Return a row per sentence of a caption, cut to fit lines of `width` characters."""
    denials = {Verdict.WRONG_DENIAL: ", a wrong denial"}
    invented = [
        ", ".join(
            f"{m.words} ({m.start}-{m.end}{denials.get(m.verdict, '')})"
            for m in sentence.inventions
        )
        for sentence in sentences
    ]
    headers = ["", "Sentence", "Made up", "P"]
    room = _SENTENCE_WIDTH
    if width is not None:
        other_columns = max(len(headers[2]) + 2, *map(len, invented)) + _BESIDE_SENTENCE
        room = min(room, max(width - other_columns, _LEAST_SENTENCE))
    rows: list[list[Cell]] = [
        [
            str(number),
            shortened(caption[sentence.start : sentence.end], room),
            of_sentence or None,
            sentence.p if sentence.claims and not math.isnan(sentence.p) else None,
        ]
        for number, (sentence, of_sentence) in enumerate(zip(sentences, invented, strict=True), 1)
    ]
    notes = [
        "Made up: with the position in the caption, in characters.",
        "P: VIFIDEL-P of the sentence; - if it claims nothing.",
    ]
    return Table(headers, rows, notes, texts=3, title="Sentences")


def plan_table(systems: Mapping[str, Explanation]) -> Table:
    """Return the transport plans of several systems in full, one row per match, without totals."""
    headers = ["System", "Image", "Object", "Word", "Verdict", "Nearest evidence", "Support"]
    headers += ["Object rho", "Word rho", "Mass", "Cost", "Mass x cost"]
    rows: list[list[Cell]] = []
    for name, explanation in systems.items():
        words = {word.word: word for word in explanation.words}
        for match in explanation.matches:
            word = words[match.word]
            rows.append([name, str(explanation.image_id), match.label, match.word, word.verdict])
            rows[-1] += [word.supported_by, word.support, match.label_penalty, match.word_penalty]
            rows[-1] += [match.mass, match.cost, match.contribution]
    return Table(headers, rows, texts=6)


def _rendered(table: Table, style: str, width: int, colours: Sequence[str | None] = ()) -> str:
    """Return a table that fits, with coloured rows; click drops colours where they mean nothing."""
    if style != "table":
        return table.render(style)
    above = textwrap.wrap(table.title, width) if table.title else []
    notes = [line for note in table.notes for line in textwrap.wrap(note, width)]
    parts = []
    for part in fitted(replace(table, title="", notes=notes), style, width):
        lines = part.render(style).split("\n")
        for number, colour in enumerate(colours, 2):  # below the headers
            if colour is not None:
                lines[number] = click.style(lines[number], fg=colour)
        parts.append("\n".join([*above, *lines]))
        above = []
    return "\n\n".join(parts)


def _footer(notes: Sequence[str], style: str, width: int) -> str:
    """Return the notes below all tables: names, cosines and signatures."""
    if style != "table":
        comment = "% " if style == "latex" else ""
        return "\n".join(f"{comment}{note}" for note in notes)
    signatures = [note for note in notes if "|" in note]
    return "\n".join([*(note for note in notes if "|" not in note), *folded(signatures, width)])
