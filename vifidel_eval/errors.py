"""The exceptions that users of `vifidel_eval` see, and its one warning.

Each message is one sentence that says what is wrong, where, and what to do. The command line
prints that sentence and exits with status 1; from Python, ``except VifidelError`` catches all.
"""


class VifidelError(ValueError):
    """Base of all errors of this package: the input, not the program, needs a change."""


class AnnotationError(VifidelError):
    """A source of object labels cannot be read or holds something else."""


class CaptionError(VifidelError):
    """Captions or references cannot be read, or are not one candidate an image."""


class ImageIdError(VifidelError):
    """Two sides do not know the same image ids."""


class VectorsError(VifidelError):
    """Word vectors cannot be read, or know almost none of the words."""


class MetricUnavailable(VifidelError):  # noqa: N818
    """A metric cannot run here; the others can. The sentence says why and what would help."""


class VifidelWarning(UserWarning):
    """The scores are as defined, but the input deserves a look."""
