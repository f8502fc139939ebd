"""Questions and pictures, in docs/objects.md: its Python runs, and prints what it promises."""

import contextlib
import io
import re
from pathlib import Path

from vifidel_eval.io.pictures import _MOST_PIXELS
from vifidel_eval.plugins.detect.picture_sources import SUFFIXES

PAGE = (
    (Path(__file__).parents[3] / "docs/objects.md")
    .read_text("utf-8")
    .partition("## Questions and")[2]
)
CALIBRATION, _ = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_calibration_prints_what_it_says():
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(CALIBRATION, "detect.md", "exec"), {})
    assert printed.getvalue().strip() == re.findall(r"# ([\d. ]+)$", CALIBRATION, re.M)[-1]


def test_what_the_page_says_of_pictures():
    assert f"{_MOST_PIXELS / 1e6:.0f} million pixels" in PAGE
    for suffix in SUFFIXES - {".jpeg", ".tif"}:
        assert {"jpg": "jpeg"}.get(suffix[1:], suffix[1:]) in PAGE.lower()
