"""Doors: kinds of arguments, numbers that metrics return, and records of options."""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import os
import re
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, Union

from ..errors import AnnotationError, VifidelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")

_OF_WRONG_KINDS = (TypeError, AttributeError, LookupError, ValueError, OSError, OverflowError)
_MOST_LOOKED_AT = 100  # members of a collection
_TEXTS = frozenset({str})
_LARGEST = 1e100  # of larger scores, sums and squares may be infinite
_MODULES = re.compile(r"\b(?:\w+\.)+")  # before the names of types


def name_wrong_argument(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that names, in a `VifidelError`, the wrong argument on which it fails."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except VifidelError as problem:
            name, _ = _wrong_argument(function, args, kwargs, look_inside=False)
            if not name or name in str(problem):
                raise
            # Of our own sentences, those that do not name it yet.
            error = type(problem)(f"{name}: {problem}")
        except _OF_WRONG_KINDS:
            name, sentence = _wrong_argument(function, args, kwargs)
            if not name:
                raise
            error = VifidelError(sentence)
        except RecursionError:
            error = VifidelError(f"{function.__qualname__}: an argument is nested too deeply.")
        raise error from None

    return call


def constructor(init: Callable[P, None]) -> Callable[P, None]:
    """Return a constructor that names a wrong argument, and keeps as text what it was given.

    ``_given`` has the texts of those arguments that differ from their defaults, for the repr.
    """
    checked_init, signature = name_wrong_argument(init), inspect.signature(init)

    @functools.wraps(init)
    def call(*args: P.args, **settings: P.kwargs) -> None:
        new: Any = args[0]
        if "_given" not in vars(new):  # else by a class below
            new._given = {}
            with contextlib.suppress(TypeError):  # which `init` raises as well
                new._given = _shown(signature, signature.bind(*args, **settings).arguments)
        checked_init(*args, **settings)

    return call


def _shown(signature: inspect.Signature, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of arguments that differ from their defaults."""
    shown = {}
    for name, value in arguments.items():
        default = signature.parameters[name].default
        is_short = isinstance(value, str | int | float | os.PathLike)
        is_default = value is default or (is_short and value == default)
        if default is not inspect.Parameter.empty and not is_default:
            shown[name] = repr(value) if is_short else f"{type(value).__name__}(...)"
    return shown


def _wrong_argument(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    look_inside: bool = True,
) -> tuple[str, str]:
    """Return the first argument that does not fit, and what is wrong; two empty texts if all do."""
    signature, called = inspect.signature(function), function.__qualname__
    if called.endswith(".__init__"):  # perhaps of a class above
        called = f"{type(args[0]).__name__}.__init__"
    try:
        arguments = signature.bind(*args, **kwargs).arguments
    except TypeError as problem:  # not its parameters, as Python's own message says
        if called != function.__qualname__:
            raise TypeError(f"{called}() {problem}") from None
        return "", ""
    kinds = _kinds(function)
    for name, value in arguments.items():
        parameter = signature.parameters[name]
        if parameter.kind is inspect.Parameter.VAR_KEYWORD or name not in kinds:
            continue
        values = value if parameter.kind is inspect.Parameter.VAR_POSITIONAL else [value]
        if not all(_fits(item, kinds[name], look_inside) for item in values):
            called, kind = called.removesuffix(".__init__"), parameter.annotation
            if not isinstance(kind, str):
                kind = inspect.formatannotation(kind)
            elif kind.isidentifier() and not isinstance(kinds[name], type):  # an alias
                kind = _MODULES.sub("", inspect.formatannotation(kinds[name]))
            shown = "a value that is nested too deeply"
            with contextlib.suppress(RecursionError):
                shown = f"{value!r:.40}"
            return name, f"{called}: {name} must be {kind}, not {shown}."
    return "", ""


def _kinds(function: Callable[..., Any]) -> dict[str, Any]:
    """Return what the annotations of a function stand for; nothing if only type checkers know."""
    try:
        return inspect.get_annotations(function, eval_str=True)
    except NameError:
        return {}


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
    if getattr(value, "ndim", 1) == 0:  # an array without length
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


def check_whole(least: int, largest: float = math.inf, /, **values: Any) -> None:
    """Check that arguments, given by their names, are whole numbers from `least` to `largest`."""
    for name, value in values.items():
        if not is_whole(value, least, largest):
            bounds = f"of at least {least}" if largest == math.inf else f"from {least} to {largest}"
            raise VifidelError(f"{name} must be a whole number {bounds}, not {value!r:.40}.")


def is_whole(value: Any, least: int, largest: float = math.inf) -> bool:
    """Return whether a value is a whole number, NumPy's too, from `least` to `largest`."""
    return _is_a(value, int) and bool(least <= value <= largest)


def is_finite(value: Any) -> bool:
    """Return whether something is a number that a double holds, which a bool is not."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and bool(abs(value) <= sys.float_info.max)


def check_switches(**values: Any) -> None:
    """Check that arguments, given by their names, are True or False: no path, and no text."""
    for name, value in values.items():
        if value not in (True, False):
            raise VifidelError(f"{name} must be True or False, not {value!r:.40}.")


def in_a_tuple(names: str | Iterable[str]) -> tuple[str, ...]:
    """Return names in a tuple, where one may stand alone."""
    return (names,) if isinstance(names, str) else tuple(names)


def is_listed(values: Any) -> bool:
    """Return whether values are a list, a tuple, a series, or an array of at least one axis."""
    has_items = hasattr(values, "tolist") or hasattr(values, "to_list")
    return isinstance(values, list | tuple) or bool(has_items and getattr(values, "ndim", 1))


def as_python(values: Any) -> Any:
    """Return an array, a tensor or a series as a list or number; anything else as it is."""
    converted = getattr(values, "tolist", None) or getattr(values, "to_list", None)
    return values if converted is None else converted()


def are_texts(values: Any, longest: int) -> bool:
    """Return whether values are a list of strings, none with more characters than `longest`."""
    texts = type(values) is list and _TEXTS.issuperset(map(type, values))
    return texts and max(map(len, values), default=0) <= longest


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


def real_numbers(values: Any, noun: str, rows: Sequence[Any], axes: int = 1) -> NDArray[np.float64]:
    """Return real numbers as float64, one, or a row of them, for each row; none may be infinite."""
    import numpy as np  # which help does not need

    array = np.asarray(values)
    numbers = f"{noun} must be a finite number, and NaN where it is undefined"
    if array.dtype.kind not in "fiu":
        kind = type(next(iter(array.flat), values)).__name__
        raise VifidelError(f"{numbers}; found {kind} {values!r:.60}.")
    if array.ndim != axes or len(array) != len(rows):
        shape = f"{len(array)} scores" if array.ndim == axes == 1 else f"the shape {array.shape}"
        raise VifidelError(f"{numbers}, one for each of {len(rows)} captions; found {shape}.")
    array = array.astype(np.float64, copy=False)
    too_large = abs(array) > _LARGEST
    if too_large.any():
        at = tuple(np.argwhere(too_large)[0])
        fault = "infinite" if np.isinf(array[at]) else f"{array[at]:g}, which is too large"
        raise VifidelError(f"{numbers}; that of {rows[at[0]]!r} is {fault}.")
    return array


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
    lowest: int = 0

    def says(self, spelled: Callable[[str], str]) -> str:
        """Return the help, in which `spelled` returns what the reader calls other options."""
        text = self.help if isinstance(self.help, str) else self.help()
        return _NAMED.sub(lambda named: spelled(named[1]), text)


def option(
    default: Any, says: str | Callable[[], str], kind: Any = Path, *, name: str = "", **more: Any
) -> Any:
    """Return the default of a dataclass's field that is an `Option` with these attributes."""
    return field(default=default, metadata={"option": Option(name, says, kind, default, **more)})


def options_of(
    record: type[Any], only: Collection[str] | None = None, omit: Collection[str] = ()
) -> dict[str, Option]:
    """Return the options that a record's fields are, by field: those of `only`, or all in order."""
    declared = {f.name: f.metadata["option"] for f in fields(record) if f.metadata}
    names = declared if only is None else only
    return {
        at: replace(declared[at], name=declared[at].name or at) for at in names if at not in omit
    }
