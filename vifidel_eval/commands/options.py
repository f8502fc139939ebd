"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import VifidelError
from ..io.text_tables import FORMATS
from .paths import FILE, NAMED, Between

if TYPE_CHECKING:
    from ..captions.fields import Wanted
    from ..scorers.record import Settings


class Stated(click.types.StringParamType):
    """A text that states something, such as a condition on a column.

    Parameters
    ----------
    parse : callable
        From the text to what it states; a `VifidelError` is the message.
    """

    name = "condition"

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self._parse(value)
        except VifidelError as problem:
            self.fail(str(problem), param, ctx)


def read_stop_words(path: Path | None) -> frozenset[str]:
    """Return the words that are left out of captions: those in a file, by default English ones.

    Raises
    ------
    VifidelError
        If the file cannot be read.
    """
    from ..io.files import read_text
    from ..words.content_words import STOP_WORDS

    return STOP_WORDS if path is None else frozenset(read_text(path, VifidelError).split())


class Described(click.Option):
    """An option whose help is made when it is printed: what that needs is imported only then."""

    def __init__(self, *args: Any, describe: Callable[[], str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._describe = describe

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self.help = self._describe()
        return super().get_help_record(ctx)


def _formats_of_objects() -> str:
    from ..annotations.read import accepted

    return f"What the images show: {accepted()}. Repeat to unite several."


#: The options of words and distances, in the order of ``--help``.
WORDS = (
    click.option(
        "--vectors",
        type=NAMED,
        help="Word vectors: a gensim, word2vec, GloVe or fastText file, or a gensim-downloader "
        "name.  [default: embedded]",
    ),
    click.option(
        "--trust-pickles",
        is_flag=True,
        help="Unpickle --vectors (gensim's .kv is a pickle), although a pickle can run any code.",
    ),
    click.option(
        "--stop-words",
        type=FILE,
        help="Text file of the words to leave out of captions.  [default: English]",
    ),
    click.option(
        "--p",
        type=click.Choice(["1", "2"]),
        help="Exponent of the travel cost.  [default: 2; WMD 1]",
    ),
    click.option(
        "--raw-vectors",
        "normalize",
        is_flag=True,
        callback=lambda _, __, raw: not raw,
        help="Do not scale word vectors to length 1.",
    ),
    click.option("--presence", is_flag=True, help="Count each object label once per image."),
)

#: What a user declares of the objects.
LOOKED_FOR = click.option(
    "--looked-for",
    type=NAMED,
    help="What was looked for in every image, if the objects do not say it: coco, voc, all (what "
    "is not listed is not there), or a file with a label per line.",
)

#: The options of the image side and the word vectors, in the order of ``--help``.
TRANSPORT = (
    click.option(
        "--objects",
        multiple=True,
        type=FILE,
        cls=Described,
        describe=_formats_of_objects,
    ),
    click.option(
        "--threshold",
        type=Between(0, 1),
        help="Lowest detection score that counts.  [default: 0.6; Open Images 0.4]",
    ),
    click.option(
        "--categories",
        multiple=True,
        type=FILE,
        help="Class names, if --objects has only numbers: a COCO file with categories, "
        "Open Images class descriptions; for YOLO and class indices data.yaml, config.json, or a "
        "text file with one name per line.",
    ),
    click.option(
        "--uncertain",
        type=Between(0, 1),
        help="Score below which something that was asked for is not in the image; between this and "
        "--threshold it is not judged.  [default: --threshold]",
    ),
    *WORDS,
    LOOKED_FOR,
    click.option(
        "--agree",
        is_flag=True,
        help="Judge only where all --objects agree, instead of uniting them.",
    ),
)


def format_option(help_text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option ``--format``; the command gets what the user chose as ``style``."""
    return click.option(
        "--format",
        "style",
        type=click.Choice(FORMATS),
        default="table",
        show_default=True,
        metavar="FORMAT",
        help=f"{help_text} One of {', '.join(FORMATS)}.",
    )


def gathered(
    name: str, make: Callable[[dict[str, Any]], Any], options: Sequence[Callable[..., Any]]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds options, which a command gets as one object.

    Parameters
    ----------
    name : str
        The command's argument that takes the object.
    make : callable
        Takes the values of the options out of all that the command was given, and returns the
        object.
    options : sequence
        What ``click.option`` returns, in the order of ``--help``.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def gathering(**given: Any) -> Any:
            made = make(given)
            return command(**{name: made}, **given)

        return with_options(gathering, options)

    return decorate


def fields_of(kind: type[Any], given: dict[str, Any]) -> Any:
    """Take the values of a dataclass's fields, one per option, out of what a command was given."""
    return kind(**{field.name: given.pop(field.name) for field in fields(kind)})


def with_options(
    command: Callable[..., Any], options: Sequence[Callable[..., Any]]
) -> Callable[..., Any]:
    """Return a command with options, in the order of ``--help``."""
    for option in reversed(options):
        command = option(command)
    return command


def settings_of(given: dict[str, Any]) -> Settings:
    """Take the values of `TRANSPORT` out of what a command was given, as settings of metrics.

    Raises
    ------
    VifidelError
        If the file of stop words cannot be read.
    """
    from ..scorers.record import Settings

    p = given.pop("p")
    as_they_are = ("threshold", "categories", "uncertain", "looked_for", "agree", "vectors")
    return Settings(
        objects=given.pop("objects") or None,
        counts=not given.pop("presence"),
        stop_words=read_stop_words(given.pop("stop_words")),
        p=None if p is None else int(p),
        **{name: given.pop(name) for name in (*as_they_are, "trust_pickles", "normalize")},
    )


#: Adds the options of `TRANSPORT`; the command gets them together as ``settings``.
transport_options = gathered("settings", settings_of, TRANSPORT)


def _wanted(given: dict[str, Any]) -> Wanted:
    """Take what fields are called out of what a command was given, as far as it has the options."""
    from ..captions.fields import Wanted

    names = ("id_field", "caption_field", "reference_field", "split")
    return Wanted(*(given.pop(name, ()) for name in names))


_ID_FIELD = click.option(
    "--id-field",
    multiple=True,
    metavar="NAME",
    help="Column or key of image ids in caption files, or the path to it, such as doc.image_id.  "
    "[default: image_id, image, file_name, ...]",
)
_CAPTION_FIELD = click.option(
    "--caption-field",
    multiple=True,
    metavar="NAME",
    help="Column, key or path of captions in result files, such as 'filtered_resps[0]'.  [default: "
    "caption, prediction, text, ...]",
)
_REFERENCE_FIELD = click.option(
    "--reference-field",
    multiple=True,
    metavar="NAME",
    help="Column, key or path of captions in references.  [default: caption, reference, ...]",
)
_SPLIT = click.option(
    "--split",
    multiple=True,
    metavar="NAME",
    help="Split of Karpathy's dataset JSON, such as test. Repeat for several.",
)

#: Add the options of result files, of references, or of both; a command gets them as ``wanted``.
field_options = gathered("wanted", _wanted, (_ID_FIELD, _CAPTION_FIELD))
reference_options = gathered("wanted", _wanted, (_ID_FIELD, _REFERENCE_FIELD, _SPLIT))
caption_options = gathered("wanted", _wanted, (_ID_FIELD, _CAPTION_FIELD, _REFERENCE_FIELD, _SPLIT))
