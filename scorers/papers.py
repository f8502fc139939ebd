"""Papers of the metrics: how sentences cite them, and their entries in ``papers.bib``."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import NamedTuple

from ..project import ADDRESS


class Paper(NamedTuple):
    """A paper to cite."""

    cited: str  # as a sentence cites it
    bibtex: str  # its entry

    @property
    def key(self) -> str:
        """The key of its entry."""
        return re.split("[{,]", self.bibtex)[1]


# What could not be checked is left out of an entry.
_ENTRIES = {
    Paper("", entry).key: entry
    for entry in files(__package__).joinpath("papers.bib").read_text("utf-8").strip().split("\n\n")
}

_OURS = _ENTRIES["vifidel-eval"]
#: This project, for its own metrics; what CITATION.cff says of it.
VIFIDEL_EVAL = Paper(
    "the vifidel_eval authors, 2026",
    re.sub(r"\n}$", f",\n  url = {{{ADDRESS}}}\n}}", _OURS) if ADDRESS else _OURS,
)
MADHYASTHA_2019 = Paper("Madhyastha et al., 2019", _ENTRIES["madhyastha-etal-2019-vifidel"])
KUSNER_2015 = Paper("Kusner et al., 2015", _ENTRIES["kusner-etal-2015-word"])
KILICKAYA_2017 = Paper("Kilickaya et al., 2017", _ENTRIES["kilickaya-etal-2017-evaluating"])
PAPINENI_2002 = Paper("Papineni et al., 2002", _ENTRIES["papineni-etal-2002-bleu"])
LIN_2004 = Paper("Lin, 2004", _ENTRIES["lin-2004-rouge"])
VEDANTAM_2015 = Paper("Vedantam et al., 2015", _ENTRIES["vedantam-etal-2015-cider"])
ROHRBACH_2018 = Paper("Rohrbach et al., 2018", _ENTRIES["rohrbach-etal-2018-object"])
DENKOWSKI_2014 = Paper("Denkowski and Lavie, 2014", _ENTRIES["denkowski-lavie-2014-meteor"])
ANDERSON_2016 = Paper("Anderson et al., 2016", _ENTRIES["anderson-etal-2016-spice"])
JIANG_2019 = Paper("Jiang et al., 2019", _ENTRIES["jiang-etal-2019-tiger"])
HESSEL_2021 = Paper("Hessel et al., 2021", _ENTRIES["hessel-etal-2021-clipscore"])
LEE_2020 = Paper("Lee et al., 2020", _ENTRIES["lee-etal-2020-vilbertscore"])
