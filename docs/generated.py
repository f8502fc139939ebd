"""Pages made from the program's own records: each command's help, and every format."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

import click

from vifidel_eval.annotations.read import formats
from vifidel_eval.captions.read import layouts
from vifidel_eval.commands.main import main
from vifidel_eval.scorers.registry import METRICS


def escaped(text: str) -> str:
    """Return plain text with backquoted code as Markdown; options are code too."""
    text = re.sub(r"(?<![\w`-])--[a-z][\w-]*(?!`)", r"`\g<0>`", " ".join(text.split()))
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p[:1] == "`" else re.sub(r"([*_<\[\]|$])", r"\\\1", p) for p in parts)


def defined(term: str, *lines: str) -> str:
    """Return an entry of a definition list in Markdown."""
    return f"{term}\n: " + textwrap.indent("\n\n".join(filter(None, lines)), "  ")[2:] + "\n\n"


def commands(group: click.Group, context: click.Context, level: int = 2) -> Iterator[str]:
    """Yield a section for each command: its help and its options, rare ones too.

    Groups come last; of the commands within one, what an earlier command has is only named.
    """
    shown: set[tuple[str, str]] = set()
    named = [
        (name, group.get_command(context, name)) for name in sorted(group.list_commands(context))
    ]
    for name, command in sorted(named, key=lambda one: isinstance(one[1], click.Group)):
        if command is None or command.hidden:
            continue
        inside = click.Context(command, context, name)
        yield f"{'#' * level} {name}\n\n"
        yield f"`{' '.join([inside.command_path, *command.collect_usage_pieces(inside)])}`\n\n"
        yield from (escaped(part) + "\n\n" for part in (command.help or "").split("\n\n"))
        if isinstance(command, click.Group):
            yield from commands(command, inside, level + 1)
            continue
        options = [one for one in command.get_params(inside) if isinstance(one, click.Option)]
        records = [one.get_help_record(inside) for one in options if not one.is_eager]
        told = [record for record in records if record is not None]
        yield from (
            defined(f"`{term}`", escaped(text)) for term, text in told if (term, text) not in shown
        )
        if again := [f"`{term.split()[0]}`" for term, text in told if (term, text) in shown]:
            yield f"As above: {', '.join(again)}.\n\n"
        shown.update(told if level > 2 else ())


def caption_layouts() -> Iterator[str]:
    """Yield an entry for each layout of captions."""
    for layout in layouts():
        yield defined(
            layout.source,
            f"*Results:* {layout.as_results or 'no'}.",
            f"*References:* {layout.as_references or 'no'}.",
            layout.example and f"```text\n{layout.example}\n```",
        )


def object_formats() -> Iterator[str]:
    """Yield an entry for each format of objects."""
    for known in formats():
        lowest = known.scores and f"*Lowest score:* {known.scores}."
        example = known.example and f"```text\n{known.example}\n```"
        yield defined(known.source, lowest, known.notes, example)


def all_commands() -> Iterator[str]:
    """Yield a section for each command, with the options of all metrics."""
    METRICS.load()
    return commands(main, click.Context(main, info_name="vifidel-eval"))


PARTS = {
    "commands": all_commands,
    "captions": caption_layouts,
    "objects": object_formats,
}
