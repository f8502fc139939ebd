"""Structs of MATLAB files, checked before they are used."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import AnnotationError
from ...io.files import reason

_DAMAGED = "{}: not a MATLAB file, or a damaged one; download the published file again."


def read_structs(path: Path, variable: str, fields: Iterable[str]) -> list[Any]:
    """Return the structs of a variable, with their fields as attributes.

    Raises
    ------
    AnnotationError
        If the file cannot be read or has no such variable or fields.
    """
    fields = list(fields)
    structs = [struct for struct in np.atleast_1d(_read(path, variable)) if struct is not None]
    lacking = [field for field in fields if not all(hasattr(struct, field) for struct in structs)]
    if lacking or not structs:
        raise AnnotationError(
            f"{path}: {variable!r} is not a list of structs with {', '.join(fields)}; is it the "
            "published file?"
        )
    return structs


def read_numbers(path: Path, variable: str) -> Any:
    """Return a variable that holds numbers, flat.

    Raises
    ------
    AnnotationError
        If the file cannot be read or has no such variable of numbers.
    """
    numbers = np.ravel(_read(path, variable))
    if numbers.dtype.kind not in "uif":
        raise AnnotationError(f"{path}: {variable!r} holds no numbers; is it the published file?")
    return numbers


def _read(path: Path, variable: str) -> Any:
    from scipy.io import loadmat, whosmat

    if not path.exists():
        raise AnnotationError(
            f"{path}: no such file; give the folder that holds the data set's published files."
        )
    try:
        variables = [name for name, *_ in whosmat(path)]
        if variable in variables:
            return loadmat(
                path, squeeze_me=True, struct_as_record=False, variable_names=[variable]
            )[variable]
    except OSError as problem:
        if problem.errno is None:  # SciPy's own: the content ends too early
            raise AnnotationError(_DAMAGED.format(path)) from None
        raise AnnotationError(f"{path}: {reason(problem)}; check the path.") from None
    except NotImplementedError:
        raise AnnotationError(
            f"{path}: a MATLAB 7.3 file, which the published one is not; get the published file."
        ) from None
    except Exception:  # damaged files raise nearly anything in SciPy
        raise AnnotationError(_DAMAGED.format(path)) from None
    raise AnnotationError(
        f"{path}: no variable {variable!r} but {', '.join(variables) or 'none'}; is it the "
        "published file?"
    )
