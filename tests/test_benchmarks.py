"""What benchmarks take from the package beside its public names."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def ablation():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        import ablation
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    return ablation


@pytest.mark.parametrize("table", ["PRF", "H"])
def test_every_row_of_the_ablation_replaces_what_is_there(ablation, table):
    for patches in getattr(ablation, table).values():
        with ablation.patched(patches):  # `mock.patch` wants that the attribute exists
            pass


def test_the_readme_has_every_command_and_a_page_that_names_it():
    text = (ROOT / "benchmarks" / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+\.py|pytest)[^|]*\|[^|]*\|[^|]*\|([^|]*)\|", text, re.MULTILINE)
    scripts = {path.name for path in (ROOT / "benchmarks").glob("*.py")}
    assert {name for name, _ in rows} == {*scripts, "pytest"}
    for name, pages in rows:
        listed = re.findall(r"\]\(\.\./(docs/[\w-]+\.md)(?:#[\w-]+)?\)", pages)
        # docs/contributing.md includes a file of the root.
        files = [page.replace("docs/contributing", "CONTRIBUTING") for page in listed]
        assert any(name in (ROOT / file).read_text("utf-8") for file in files), name
