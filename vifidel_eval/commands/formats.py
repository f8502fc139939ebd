"""The command ``vifidel-eval formats``."""

from __future__ import annotations

import click

from .options import Command
from .printing import show


@click.command(
    cls=Command, examples=("formats", "formats objects", "score mine.json --objects objects.json")
)
@click.argument("kind", type=click.Choice(["captions", "objects"]), required=False)
def formats(kind: str | None) -> None:
    """List the files that can be read, each with a small example.

    Files are recognised by their content. docs/captions.md and docs/objects.md have the
    details.
    """
    from ..annotations.read import FORMATS
    from ..captions.layouts import LAYOUTS

    if kind != "objects":
        show("Captions, as results or references")
        for layout in LAYOUTS:
            alone = " (references only)" if not layout.as_results else ""
            _show_one(layout.source + alone, layout.example)
    if kind != "captions":
        show("Objects of images" if kind else "\nObjects of images")
        for known in FORMATS:
            _show_one(known.source, known.example or "see docs/detect.md")


def _show_one(source: str, example: str) -> None:
    """Print one format: its row of the documentation, without Markdown, and the example."""
    show("\n  " + source.replace("`", "").replace("\\", ""))
    for line in example.replace("\t", "<tab>").split("\n"):
        show(f"      {line}")
