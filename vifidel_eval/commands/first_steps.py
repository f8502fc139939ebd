"""The commands that one begins with: ``vifidel-eval demo`` and ``formats``."""

from __future__ import annotations

import itertools
import os
import shlex
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

import click

from ..errors import VifidelError
from ..io.files import write_whole
from ..show.layout import line_width
from .options import Command
from .paths import WrittenTree
from .printing import show

_FILES = {
    "careful.json": "captions_example_careful_results.json",
    "dreaming.json": "captions_example_dreaming_results.json",
    "terse.json": "captions_example_terse_results.json",
    "references.json": "captions_example.json",
    "objects.json": "instances_example.json",
}
_REPORT = "report.html"


@click.command(cls=Command, examples=("demo", "demo somewhere/else", "demo ~/Desktop/demo"))
@click.argument("folder", default="vifidel_demo", type=WrittenTree())
@click.pass_context
def demo(ctx: click.Context, folder: Path) -> None:
    """Score the example that comes with the package, and write its report.

    FOLDER (by default, vifidel_demo) must be new or empty. It gets five small files (made-up
    captions of three systems, references and objects) and the report.
    """
    from .score import score

    if os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        raise VifidelError(f"{folder}: is there already; name a new folder: demo {_free(folder)}.")
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in _FILES.items():
        write_whole(folder / name, (_examples() / source).read_bytes())
    careful, dreaming, terse, references, objects = (str(folder / name) for name in _FILES)
    arguments = [careful, dreaming, terse, "--references", references, "--objects", objects]
    arguments += ["--metrics", "VIFIDEL-PRF,VIFIDEL-H,CIDEr", "--report", str(folder / _REPORT)]
    show(f"$ vifidel-eval score {shlex.join(arguments)}")
    with score.make_context("score", arguments, parent=ctx) as scoring:
        score.invoke(scoring)
    opener = {"darwin": "open", "win32": "start"}.get(sys.platform, "xdg-open")
    show(f"\nOpen the report in a browser: {opener} {shlex.quote(str(folder / _REPORT))}")


def _free(folder: Path) -> Path:
    """Return the first of the names FOLDER-2, FOLDER-3, … that nothing has."""
    names = (folder.with_name(f"{folder.name}-{number}") for number in itertools.count(2))
    return next(name for name in names if not os.path.lexists(name))


def _examples() -> Path:
    """Return the folder of the examples: in the package, or beside it in a checkout."""
    package = Path(__file__).parents[1]
    installed = package / "examples"
    return installed if installed.is_dir() else package.parent / "examples"


@click.command(
    cls=Command, examples=("formats", "formats objects", "score mine.json --objects objects.json")
)
@click.argument("kind", type=click.Choice(["captions", "objects"]), required=False)
def formats(kind: str | None) -> None:
    """List the files that can be read, each with a small example.

    Files are recognised by content. See docs/formats.md for details.
    """
    from ..annotations.read import formats as object_formats
    from ..captions.read import layouts

    if kind != "objects":
        show("Captions, as results or references\n")
        show(_listed(layout.name for layout in layouts()))
        for layout in layouts():
            alone = " (references only)" if not layout.as_results else ""
            _show_format(layout.source + alone, layout.example)
    if kind != "captions":
        show("Objects of images\n" if kind else "\nObjects of images\n")
        show(_listed(form.name for form in object_formats()))
        for form in object_formats():
            _show_format(form.source, form.example or "see docs/objects.md")


def _listed(names: Iterable[str]) -> str:
    """Return the names of formats as lines that fit."""
    return _filled(f"{'; '.join(dict.fromkeys(names))}.")


def _filled(text: str) -> str:
    return textwrap.fill(text, line_width(), initial_indent="  ", subsequent_indent="  ")


def _show_format(source: str, example: str) -> None:
    """Print one format: its row of the documentation, without Markdown, and the example."""
    show("\n" + _filled(source.replace("`", "")))
    for line in example.replace("\t", "<tab>").split("\n"):
        show(f"      {line}")
