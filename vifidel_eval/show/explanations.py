"""Explanations as text, of systems and of single captions, in the colours of a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace

import click

from ..explain.explanation import Explanation, plan_table, tables
from ..explain.findings import Findings, findings_in_width, findings_table, summary_table
from ..explain.sentences import JudgedSentence, sentence_table
from ..io.text_tables import Table
from .layout import fitted, folded, line_width


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
        shown.append(_shown(table, style, width, [colour] * len(table.rows)))
    return "\n\n".join([*shown, _below(notes, style, width)])


def explanations_text(
    explained: Mapping[str, Explanation],
    sentences: Mapping[str, Sequence[JudgedSentence]],
    plan: bool,
    style: str,
    notes: Sequence[str],
) -> str:
    """Return each system's explanation, with its `sentences` if several; CSV has the plan alone."""
    if style == "csv":
        return plan_table(explained).render(style)
    width = line_width()
    shown = []
    for name, explanation in explained.items():
        words, *others = tables(explanation, name, plan)
        colours = [{"!": "red", "+": "green"}.get(str(row[0])) for row in words.rows]
        if name in sentences:
            of_sentences = sentence_table(explanation.caption, sentences[name], width)
            others = [of_sentences, *others]
        shown.append(_shown(words, style, width, colours))
        shown += [_shown(table, style, width) for table in others]
    return "\n\n".join([*shown, _below(notes, style, width)])


def _shown(table: Table, style: str, width: int, colours: Sequence[str | None] = ()) -> str:
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


def _below(notes: Sequence[str], style: str, width: int) -> str:
    """Return what was explained by: names, cosines and signatures."""
    if style != "table":
        comment = "% " if style == "latex" else ""
        return "\n".join(f"{comment}{note}" for note in notes)
    signatures = [note for note in notes if "|" in note]
    return "\n".join([*(note for note in notes if "|" not in note), *folded(signatures, width)])
