"""Arguments and options: errors that name an argument of a wrong kind; options declared once.

Kinds are not checked before a call, so that good arguments cost nothing. Where a call fails as
Python fails on a wrong kind, its arguments are compared with the annotations of its signature.

An option is what users choose, declared once as a field of a record (a frozen dataclass). The
command's option, a function's argument and what docstrings say of it follow from the field.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import os
import re
import sys
import textwrap
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, Union

from ..errors import AnnotationError, VifidelError

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T", bound=Callable[..., Any])

_OF_WRONG_KINDS = (TypeError, AttributeError, LookupError, ValueError, OSError, OverflowError)
_MOST_LOOKED_AT = 100  # members of a collection
_TEXTS = frozenset({str})


def named_if_wrong(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that names, in a `VifidelError`, the wrong argument on which it fails."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except VifidelError as problem:
            name, _ = _wrong_kind(function, args, kwargs, members=False)
            if not name or name in str(problem):
                raise
            # Of our own sentences, those that do not name it yet.
            said, error = f"{name}: {problem}", type(problem)
        except _OF_WRONG_KINDS:
            name, said = _wrong_kind(function, args, kwargs)
            if not name:
                raise
            error = VifidelError
        raise error(said) from None

    return call


def noting(made: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor that keeps in ``_given``, as texts, what differs from defaults."""
    signature = inspect.signature(made)

    @functools.wraps(made)
    def call(self: Any, *args: Any, **settings: Any) -> None:
        if "_given" not in vars(self):  # else by a class below
            self._given = {}
            with contextlib.suppress(TypeError):  # which `made` raises as well
                for name, value in signature.bind(self, *args, **settings).arguments.items():
                    default = signature.parameters[name].default
                    short = isinstance(value, str | int | float | os.PathLike)
                    if default is inspect.Parameter.empty or value is default:
                        continue
                    if not short or value != default:
                        self._given[name] = repr(value) if short else f"{type(value).__name__}(...)"
        made(self, *args, **settings)

    return call


def _wrong_kind(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    members: bool = True,
) -> tuple[str, str]:
    """Return the first argument that does not fit, and what is wrong; two empty texts if all do."""
    signature, called = inspect.signature(function), function.__qualname__
    if called.endswith(".__init__"):  # perhaps of a class above
        called = f"{type(args[0]).__name__}.__init__"
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError as problem:  # not its parameters, as Python's own message says
        if hasattr(function, "__signature__") or called != function.__qualname__:
            raise TypeError(f"{called}() {problem}") from None
        return "", ""
    names = dict(inspect.unwrap(function).__globals__)
    for record in getattr(function, "__records__", ()):  # as `options.taking` has them
        names |= vars(sys.modules[record.__module__])
    for name, value in given.items():
        how, expected = signature.parameters[name].kind, signature.parameters[name].annotation
        kind, several = _kind(expected, names), how is inspect.Parameter.VAR_POSITIONAL
        fits = (_fits(one, kind, members) for one in (value if several else [value]))
        if how is not inspect.Parameter.VAR_KEYWORD and not all(fits):
            called = called.removesuffix(".__init__")
            return name, f"{called}: {name} must be {expected}, not {value!r:.40}."
    return "", ""


def _kind(annotation: Any, names: dict[str, Any]) -> Any:
    """Return what an annotation of ours stands for; Any if only type checkers know its names."""
    if annotation is inspect.Parameter.empty:
        return Any
    try:
        return eval(annotation, names) if isinstance(annotation, str) else annotation
    except (NameError, TypeError):
        return Any


def _fits(value: Any, kind: Any, look_inside: bool = True) -> bool:
    """Return whether a value may be of a kind; what cannot be told is taken for right."""
    origin, members = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return any(_fits(value, member, look_inside) for member in members)
    if origin is Literal:
        return value in members
    kind = type(None) if kind is None else origin or kind
    if kind is Any or not isinstance(kind, type):
        return True
    if getattr(kind, "_is_protocol", False):
        names = [name for name in vars(kind) if not name.startswith("_")]
        return not isinstance(value, type) and all(hasattr(value, name) for name in names)
    of_texts = isinstance(value, str | bytes) and members and kind not in (str, bytes)
    if not _is_a(value, kind) or of_texts:  # a text is no collection of texts
        return False
    return not look_inside or _members_fit(value, kind, members)


def _members_fit(value: Any, kind: type, members: tuple[Any, ...]) -> bool:
    if isinstance(value, str | bytes) or getattr(value, "ndim", 1) == 0:  # an array without length
        return True
    if issubclass(kind, Mapping) and len(members) == 2:
        some = list(value.items())[:_MOST_LOOKED_AT]
        return all(_fits(k, members[0]) and _fits(v, members[1]) for k, v in some)
    if issubclass(kind, Iterable) and isinstance(value, Collection) and members:
        return all(_fits(member, members[0]) for member in list(value)[:_MOST_LOOKED_AT])
    return True


def _is_a(value: Any, kind: type) -> bool:
    if kind in (int, float):  # NumPy's too, but True is no number here
        number = Integral if kind is int else Real
        return isinstance(value, number) and not isinstance(value, bool)
    return isinstance(value, kind) or (kind is Sequence and hasattr(value, "__array__"))


def check_whole(least: int, most: float = math.inf, /, **given: Any) -> None:
    """Check that arguments, given by their names, are whole numbers from `least` to `most`."""
    for name, value in given.items():
        if not is_whole(value, least, most):
            bounds = f"of at least {least}" if most == math.inf else f"from {least} to {most}"
            raise VifidelError(f"{name} must be a whole number {bounds}, not {value!r:.40}.")


def is_whole(value: Any, least: int, most: float = math.inf) -> bool:
    """Return whether a value is a whole number, NumPy's too, from `least` to `most`."""
    return _is_a(value, int) and bool(least <= value <= most)


def is_listed(values: Any) -> bool:
    """Return whether values are a list, a tuple, or an array or tensor of at least one axis."""
    return isinstance(values, list | tuple) or bool(
        hasattr(values, "tolist") and getattr(values, "ndim", 1)
    )


def are_texts(values: Any, longest: int) -> bool:
    """Return whether values are a list of strings, none with more characters than `longest`."""
    texts = type(values) is list and _TEXTS.issuperset(map(type, values))
    return texts and max(map(len, values), default=0) <= longest


#: The sections of a command's help.
INPUT, METRICS, OUTPUT = "Input", "Metrics", "Output"

_NAMED = re.compile(r"`(\w+)`")


@dataclass(frozen=True)
class Option:
    """A setting that users choose, in Python and on the command line."""

    name: str  #: as in Python: "tiger_features"; the command has it as --tiger-features
    #: What it is, in one sentence, or what returns it; other options are named between backticks.
    help: str | Callable[[], str]
    #: `Path` for a file or folder that is read, ``(Path, str)`` for a file or a name, `str`, `int`,
    #: `float` for a number from `lowest` to 1, `bool` for a switch, or a type of click.
    kind: Any = Path
    default: Any = None
    required: bool = False  #: whether the metric cannot be computed without it
    #: From the file's path to that of another file, which is read with it.
    companion: Callable[[Path], Path] | None = None
    #: Where the command's help has it, and whether only ``--help-all`` shows it.
    section: str = METRICS
    rare: bool = False
    several: bool = False  #: whether it may be given several times
    choices: tuple[int, ...] = ()  #: the values that it may have, if they are few
    metavar: str | None = None  #: what the help calls its value
    off: str = ""  #: the switch that turns off what is on by default: "--presence"
    read: Callable[[Any], Any] | None = None  #: from what the command was given to the value
    more: str = ""  #: what docstrings add to the help
    lowest: int = 0

    def says(self, spelled: Callable[[str], str]) -> str:
        """Return the help, in which `spelled` returns what the reader calls other options."""
        text = self.help if isinstance(self.help, str) else self.help()
        return _NAMED.sub(lambda named: spelled(named[1]), text)


def option(
    default: Any, says: str | Callable[[], str], kind: Any = Path, *, name: str = "", **how: Any
) -> Any:
    """Return the default of a dataclass's field that is an `Option` with these attributes."""
    return field(default=default, metadata={"option": Option(name, says, kind, default, **how)})


def options_of(
    record: type[Any], only: Collection[str] | None = None, omit: Collection[str] = ()
) -> dict[str, Option]:
    """Return the options that a record's fields are, by field: those of `only`, or all in order."""
    declared = {one.name: one.metadata["option"] for one in fields(record) if one.metadata}
    names = declared if only is None else only
    return {
        at: replace(declared[at], name=declared[at].name or at) for at in names if at not in omit
    }


def taking(
    *records: type[Any], only: Collection[str] | None = None, omit: Collection[str] = ()
) -> Callable[[T], T]:
    """Let a function or class take the options of records, one by one and by keyword."""

    def decorate(function: T) -> T:
        called: Any = function.__init__ if inspect.isclass(function) else function
        # They arrive in its last parameter: **settings has only them, **options may have others.
        # The docstring lists them before that parameter.
        *parameters, last = inspect.signature(called).parameters.values()
        entries = []
        for record in records:
            for at, one in options_of(record, only, omit).items():
                kind = record.__annotations__[at]  # a text, or what it stands for
                parameters.append(
                    inspect.Parameter(
                        one.name,
                        inspect.Parameter.KEYWORD_ONLY,
                        default=one.default,
                        annotation=kind,
                    )
                )
                entries.append(_entry(one, kind))
        kept = [last] if last.name == "options" else []
        called.__signature__ = inspect.signature(called).replace(parameters=[*parameters, *kept])
        called.__records__ = records
        said = inspect.cleandoc(function.__doc__ or "")
        head, entry, rest = re.split(rf"(\n\*\*{last.name}\n(?: .*\n)+)", said, maxsplit=1)
        function.__doc__ = "\n".join([head, *entries]) + (entry if kept else "\n") + rest
        return function

    return decorate


def _entry(one: Option, kind: Any) -> str:
    """Return what the docstring of a function says of an option."""
    text = one.says(lambda name: f"`{name}`")
    if one.off:
        text = f"False is ``{one.off}``: {text}"
    text = f"{text} {one.more}".rstrip()
    kind = kind if isinstance(kind, str) else inspect.formatannotation(kind)
    kind = kind.removesuffix(" | None") + ", optional" * (one.default is None)
    return f"{one.name} : {kind}\n{textwrap.indent(textwrap.fill(text, 92), '    ')}"


def check_threshold(threshold: float | None, name: str = "threshold") -> None:
    """Raise if something is given as a lowest score, called `name`, that is not from 0 to 1."""
    if threshold is None:
        return
    real = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not (real and 0 <= threshold <= 1):
        advice = "; divide a percentage by 100" if real and 1 < threshold <= 100 else ""
        raise AnnotationError(f"{name} {threshold!r:.40} is not a number between 0 and 1{advice}.")


def check_thresholds(threshold: float | None, uncertain: float | None) -> None:
    """Raise unless both are scores, if given, and `uncertain` is not above `threshold`."""
    check_threshold(threshold)
    check_threshold(uncertain, "uncertain")
    if uncertain is not None and threshold is not None and uncertain > threshold:
        raise AnnotationError(
            f"uncertain {uncertain:g} is above the threshold {threshold:g}; scores between the "
            "two are not judged, so give a lower one."
        )
