"""The documentation as a whole: its groups, its length, its old addresses, its generated pages."""

import importlib.util
import re
from pathlib import Path

from vifidel_eval.annotations.read import formats
from vifidel_eval.captions.read import layouts

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
MOST_WORDS = 26_000  # of README and all pages, as `wc -w` counts, without API and changelog


def generated(name):
    """Return a part of a generated page, in Markdown."""
    spec = importlib.util.spec_from_file_location("generated", DOCS / "generated.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return "".join(module.PARTS[name]())


def test_every_page_is_in_a_table_of_contents():
    pages = "".join(path.read_text("utf-8") for path in DOCS.glob("*.md"))
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", pages, flags=re.M | re.S)
    listed = {line for tree in trees for line in tree.splitlines() if line[:1] not in (":", "")}
    assert {page for page in listed if not page.startswith("api/")} == {
        path.stem for path in DOCS.glob("*.md")
    } - {"index"}


def test_the_pages_stay_short():
    pages = [ROOT / "README.md", *DOCS.glob("*.md")]
    assert sum(len(page.read_text("utf-8").split()) for page in pages) <= MOST_WORDS


def test_old_addresses_lead_to_headings():
    moved = re.findall(
        r'^    "([\w-]+)": "([\w-]+)\.html(?:#([\w-]+))?",$',
        (DOCS / "conf.py").read_text("utf-8"),
        re.MULTILINE,
    )
    assert len(moved) > 10
    for old, new, anchor in moved:
        assert not (DOCS / f"{old}.md").exists()
        titles = re.findall(r"^#+ (.*)$", (DOCS / f"{new}.md").read_text("utf-8"), re.MULTILINE)
        anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
        assert anchor in {*anchors, ""}, old


def test_the_page_of_formats_has_every_record():
    for part, records in (("captions", [*layouts()]), ("objects", [*formats()])):
        text = generated(part)
        assert all(f"{record.source}\n: " in text for record in records)


def test_the_page_of_commands_has_every_option(run):
    text = generated("commands")
    for command in ("score", "explain"):
        shown = run(command, "--help-all").stdout
        options = set(re.findall(r"(?<= )--[a-z][\w-]+", shown)) - {"--help", "--help-all"}
        section = text.partition(f"\n## {command}\n")[2].partition("\n## ")[0]
        assert options
        assert {option for option in options if option not in section} == set()
