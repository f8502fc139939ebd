"""The project's public address: the one place that sets it.

`setup.py` (links of the package and of its README), BibTeX entries and the documentation site read
it, and a test holds `CITATION.cff` to it. Empty, nothing names an address.
"""

#: Such as ``"https://example.org/somebody/vifidel_eval"``, without a slash at the end.
ADDRESS = ""
