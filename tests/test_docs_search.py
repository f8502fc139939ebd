"""Headings of the documentation, by which its search finds pages."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"


def headings(page):
    """Return the headings of a page, without what only looks like one in a block of code."""
    text = re.sub(r"^```.*?^```", "", (DOCS / page).read_text("utf-8"), flags=re.M | re.S)
    return [line.lstrip("# ") for line in text.splitlines() if re.match(r"#{1,6} ", line)]


def test_every_page_is_in_a_table_of_contents():
    pages = "".join(path.read_text("utf-8") for path in DOCS.glob("*.md"))
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", pages, flags=re.M | re.S)
    listed = {line for tree in trees for line in tree.splitlines() if line[:1] not in (":", "")}
    assert {page for page in listed if not page.startswith("api/")} == {
        path.stem for path in DOCS.glob("*.md")
    } - {"index"}


def test_what_was_tried_is_apart_from_what_the_metric_is():
    assert not [title for title in headings("metrics.md") if "tried" in title]
    assert "Tried and not kept" in headings("experiments.md")
