"""The project's public address, and how the packages that it can do without are installed.

`setup.py` (links of the package and of its README), BibTeX entries and the documentation site read
the address, and a test holds `CITATION.cff` to it. Empty, nothing names an address.
"""

import shlex

#: Such as ``"https://example.org/somebody/vifidel_eval"``, without a slash at the end.
ADDRESS = ""


def pip_install(*packages: str) -> str:
    """Return the command that installs packages, as messages say it.

    The extras of this package (`setup.py`) have the same ones, for whoever installs a checkout.

    >>> pip_install("torch", "pandas<3")
    "pip install torch 'pandas<3'"
    """
    return shlex.join(["pip", "install", *packages])
