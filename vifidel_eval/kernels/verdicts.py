"""Whether word vectors know the language of a run; judged on the run as a whole."""

from __future__ import annotations

import warnings

from ..errors import VectorsError, VifidelWarning
from ..evaluation import Tally
from ..vectors import WordVectors

# Above this share of unknown words the scores say little about the captions: warn.
_MANY_UNKNOWN = 0.1
# Above this one, and from this many words on, they say nothing: refuse.
_ALMOST_ALL_UNKNOWN = 0.9
_ENOUGH_TO_REFUSE = 20


def check_known_words(tally: Tally, what: str, vectors: WordVectors) -> None:
    """Warn of many unknown words; refuse vectors that know almost none.

    Parameters
    ----------
    tally : Tally
        The words of a whole run: parts of one say nothing of the language.
    what : str
        What was read: captions, references or object labels.
    vectors : WordVectors
        Where they were looked up.

    Raises
    ------
    VectorsError
        If more than nine tenths of at least 20 words have no vector.

    Warns
    -----
    VifidelWarning
        If more than a tenth have none.
    """
    unknown = tally.without_vector
    if unknown <= _MANY_UNKNOWN * tally.words:
        return
    examples = ", ".join(word for word, _ in tally.unknown.most_common(5))
    share = (
        f"{unknown} of {tally.words} words of the {what} have no vector in "
        f"{vectors.signature()}, such as {examples}"
    )
    if unknown > _ALMOST_ALL_UNKNOWN * tally.words and tally.words >= _ENOUGH_TO_REFUSE:
        raise VectorsError(f"{share}; are these vectors of the {what}' language, in lower case?")
    warnings.warn(f"{share}; they are left out.", VifidelWarning, stacklevel=5)
