"""What tests read of a page of the report, in its text or in a browser."""

import json
import re

import pytest

PHONE = {"width": 390, "height": 740}


def data_of(page, name="data"):
    return json.loads(re.search(rf'id="{name}">(.*?)</script>', page, re.DOTALL)[1])


def shown(tab):
    """Return the ids of the images that are shown."""
    return [text.removeprefix("Image ") for text in tab.locator("article h3").all_inner_texts()]


def check_accessibility(tab):
    reason = "needs a browser, and axe"
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason=reason)
    result = axe.Axe().run(tab)
    assert result.violations_count == 0, result.generate_report()
