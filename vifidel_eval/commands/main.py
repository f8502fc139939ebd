"""The command ``vifidel-eval``, and those that score nothing of the user's."""

from __future__ import annotations

import contextlib
import errno
import gc
import itertools
import os
import shlex
import signal
import sys
import textwrap
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import click

from ..doors.entry_points import COMMANDS, declared, loaded, not_installed, service, unusable
from ..errors import VifidelError, VifidelWarning
from ..io.files import reason, write_whole
from .options import Command
from .paths import FILE, WrittenTree
from .printing import Group, cannot_be_printed, harmless, show, streams_that_are_there, tell

# Their modules are imported when they run or their help is shown. The commands of plug-ins and of
# other packages join by entry points.
_COMMANDS = {
    "explain": "explain:explain",
    "score": "score:score",
    "table": "tables:table",
}
_FIRST = ("demo", "formats", "score", "explain", "table", "leaderboard", "info")


class _Group(Group):
    """Shows errors of the package as one sentence and its warnings as one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        plugged = [n for n, entries in _plugged(ctx).items() if not not_installed(entries[0])]
        return sorted({*super().list_commands(ctx), *_COMMANDS, *plugged})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name)
        if command is None and cmd_name in _COMMANDS:
            command = resolve_name(f"{__package__}.{_COMMANDS[cmd_name]}")
        elif command is None and (entries := _plugged(ctx).get(cmd_name)):
            try:
                command = loaded("command", entries)
                if not isinstance(command, click.Command):
                    raise unusable(
                        "command", entries[0], f"it is not a click.Command: {command!r:.60}"
                    )
            except VifidelError as problem:
                command = _unusable(cmd_name, problem)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List first what a newcomer needs, in the order in which it is needed."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        # Whole first sentences, however narrow the terminal.
        helps = {name: c.get_short_help_str(1000) for name, c in commands if c is not None}
        first = [name for name in _FIRST if name in helps]
        width = max(map(len, helps))
        for title, names in (
            ("Begin with", first),
            ("More commands", [name for name in helps if name not in first]),
        ):
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), helps[name]) for name in names])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        missing = [n for n, entries in _plugged(ctx).items() if not_installed(entries[0])]
        if missing:
            with formatter.section("Not installed"):
                formatter.write_text(", ".join(missing))
        super().format_epilog(ctx, formatter)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command line, whatever has become of the standard streams."""
        # Searching the captions in memory for garbage again and again takes a tenth of a run.
        gc.set_threshold(100_000)
        # Threads of OpenBLAS keep cores busy while they wait. --compare takes a tenth more CPU time
        # with them, and twice as much beside other work.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        with streams_that_are_there():
            try:
                return super().main(*args, **kwargs)
            except OSError as problem:  # of what click prints itself
                tell(f"Error: {cannot_be_printed(problem)}")
                raise SystemExit(1) from None

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _ended_by_signals(), _harmless_errors():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        warned = set()

        def warn(message: Warning | str, *_: Any, **__: Any) -> None:
            if str(message) not in warned:  # what concerns all systems is said once
                warned.add(str(message))
                tell(f"Warning: {message}")

        with warnings.catch_warnings(), _ended_by_signals(), _harmless_errors():
            warnings.simplefilter("always", VifidelWarning)
            warnings.showwarning = warn
            try:
                return super().invoke(ctx)
            except OSError as problem:  # of a file: `show` has its own for the output
                if problem.errno == errno.EPIPE:  # click ends quietly
                    raise
                file = problem.filename or problem.filename2
                named = isinstance(file, str | bytes | os.PathLike)
                where = os.fsdecode(file) if named else "a file cannot be read or written"
                raise click.ClickException(f"{where}: {reason(problem)}.") from None
            except MemoryError:
                raise click.ClickException(
                    "there is not enough memory for these inputs; give smaller ones."
                ) from None
            except RecursionError:
                raise click.ClickException(
                    "an input is nested too deeply to be read; is it the right file?"
                ) from None


def _plugged(ctx: click.Context) -> dict[str, list[EntryPoint]]:
    """Return the commands of plug-ins and other packages, looked up once per command line."""
    if COMMANDS not in ctx.meta:
        ctx.meta[COMMANDS] = declared(COMMANDS)
    plugged: dict[str, list[EntryPoint]] = ctx.meta[COMMANDS]
    return plugged


def _unusable(name: str, problem: VifidelError) -> click.Command:
    """Return a command in the place of one that cannot be used: it says why, and nothing else."""

    def fail(**_: Any) -> None:
        raise problem

    takes_anything = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.Command(
        name, takes_anything, callback=fail, help=str(problem), add_help_option=False
    )


@contextlib.contextmanager
def _harmless_errors() -> Iterator[None]:
    """Let errors that click prints reach no terminal as escapes, and end with their status."""
    try:
        try:
            yield
        except VifidelError as problem:
            raise click.ClickException(str(problem)) from None
    except click.ClickException as problem:
        # Line breaks are those of a name in the sentence.
        vars(problem)["message"] = harmless(problem.message.replace("\n", "\\n"))
        vars(problem)["show"] = partial(_shown_if_possible, problem.show)
        raise


def _shown_if_possible(show: Callable[[], None], **_: Any) -> None:
    with contextlib.suppress(OSError):
        show()


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let signals that end a process unwind it first; its status is 128 + the signal's number."""
    ended = [signal.SIGINT]  # which Python makes a KeyboardInterrupt by itself

    def interrupt(number: int, _: object) -> None:
        ended.append(signal.Signals(number))
        raise KeyboardInterrupt

    before = {}
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            # What was started with nohup, or in the background, goes on.
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                before[number] = signal.signal(number, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        raise SystemExit(128 + ended[-1]) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@click.group(
    cls=_Group,
    examples=(
        "demo",
        "score mine.json --references captions.json --objects instances.json",
        "score a.json b.json --references captions.json --objects instances.json --report r.html",
    ),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="vifidel-eval")
def main() -> None:
    """Score image captions against what their images show.

    Give captions of one or more systems, and the objects in the images, references, or both. The
    scores say how faithful the captions are. `demo` runs an example.
    """


_FILES = {
    "careful.json": "captions_example_careful_results.json",
    "dreaming.json": "captions_example_dreaming_results.json",
    "terse.json": "captions_example_terse_results.json",
    "references.json": "captions_example.json",
    "objects.json": "instances_example.json",
}
_REPORT = "report.html"


@main.command(cls=Command, examples=("demo", "demo somewhere/else", "demo ~/Desktop/demo"))
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


@main.command(
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
    from ..show.layout import line_width

    return textwrap.fill(text, line_width(), initial_indent="  ", subsequent_indent="  ")


def _show_format(source: str, example: str) -> None:
    """Print one format: its row of the documentation, without Markdown, and the example."""
    show("\n" + _filled(source.replace("`", "")))
    for line in example.replace("\t", "<tab>").split("\n"):
        show(f"      {line}")


@main.command(
    cls=Command,
    examples=("info", "info --cite scores.json", "info --cite scores.json --format latex"),
)
@click.option(
    "--cite",
    type=FILE,
    help="Print how to report this file from score --output in a paper: a paragraph on the "
    "computation, and BibTeX for the metrics.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "latex"]),
    default="text",
    show_default=True,
    help="Output style of --cite.",
)
@click.option(
    "--lmms-eval",
    is_flag=True,
    help="Print the folder of this package's lmms-eval task, for lmms-eval --include_path.",
)
def info(cite: Path | None, style: str, lmms_eval: bool) -> None:
    """Print versions, which metrics run here, and what the others need."""
    if style != "text" and cite is None:
        raise click.UsageError("--format applies to --cite only; add --cite SCORES.json.")
    if lmms_eval:
        show(str(service("lmms_eval")))
        return
    if cite is not None:
        from .info import citations

        show("\n\n".join(citations(cite, style == "latex")))
        return
    from ..show.layout import line_width
    from .info import environment, metrics_here

    for name, value in environment().items():
        show(f"{name}: {value}")
    show("\n" + metrics_here(line_width()).render("table"))


@main.command("clear-cache", cls=Command)
def clear_cache_command() -> None:
    """Remove converted word vectors."""
    from ..io.caches import cache_folder, clear_cache

    size, left = clear_cache()
    show(f"{size / 1e6:.1f} MB removed from {cache_folder()}")
    for folder in left:
        tell(
            f"{folder}: left alone, because this version did not make it; if an earlier version "
            "did, you can delete it."
        )
