"""Metadata of the package: links to the project's address, where one is set."""

import re
import runpy
from pathlib import Path

import pytest

from vifidel_eval.project import ADDRESS

ROOT = Path(__file__).parents[1]
HOME = "https://code.example/somebody/vifidel_eval"


@pytest.fixture
def setup(monkeypatch):
    """Return what setup.py defines, and what it would tell setuptools."""
    told = {}
    monkeypatch.setattr("setuptools.setup", told.update)
    return runpy.run_path(str(ROOT / "setup.py")), told


def test_without_an_address_nothing_is_linked(setup):
    defined, told = setup
    assert defined["address"]() == ADDRESS
    assert defined["links"]("") == {}
    text = defined["long_description"]("")
    assert re.findall(r"\]\((?!https?:|#)[^)]*\)", text) == []
    assert "All pages: documentation, changelog,\n" in text
    assert "[Madhyastha, Wang & Specia, ACL 2019](https://aclanthology.org/P19-1654/)" in text
    assert ("url" in told, "project_urls" in told) == (bool(ADDRESS), bool(ADDRESS))


def test_with_an_address_every_link_of_the_readme_leads_there(setup):
    defined, _ = setup
    text = defined["long_description"](HOME)
    assert re.findall(r"\]\((?!https?:|#)[^)]*\)", text) == []
    assert f"[changelog]({HOME}/blob/main/CHANGELOG.md)" in text
    assert f"]({HOME}/raw/main/docs/images/report.png)" in text
    assert defined["links"](HOME)["project_urls"]["Issues"] == f"{HOME}/issues"


def test_no_other_file_names_an_address():
    files = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "setup.py")]
    files += [ROOT / "CITATION.cff", *(ROOT / "docs").glob("*.*")]
    folders = ("vifidel_eval", "scorers", "annotations", "benchmarks", "examples")
    files += [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    for path in files:
        if path.name not in ("project.py", "CITATION.cff"):
            assert not re.search(r"https?://\S+/vifidel[_-]eval\b", path.read_text("utf-8")), path
