"""What no page of the documentation may do: scroll sideways, hide what is searched for, load.

    python benchmarks/docs_site.py SITE

SITE is what ``sphinx-build docs SITE`` wrote. Chromium opens every page at 1440 and at 390 pixels;
whatever is wider than the window, or scrolls inside it, is printed, and every request to elsewhere.
The search is asked for words that newcomers use, and has to name their page among the first three.
The exit status is 1 if anything fails.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import shutil
import sys
import threading
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

WIDTHS = (1440, 390)
#: Words, and the page that has to be among the first three hits.
SEARCHES = {
    "significance": "comparing",
    "hallucination": "hallucination",
    "baseline": "comparing",
    "GPU": "start",
    "Windows": "start",
    "reward": "training",
    "Spark": "tables",
    "detector": "objects",
    "German": "recipes",
}
# Elements of the text that are wider than the window or scroll sideways, with their first words.
WIDE = """() => [document.scrollingElement, ...document.querySelectorAll("article *")]
    .filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0
        && (e === document.scrollingElement || getComputedStyle(e).overflowX !== "visible"))
    .map((e) => `${e.tagName} ${e.scrollWidth}: ${e.textContent.trim().slice(0, 50)}`)"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the site without a line for each request."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def faults_of(page: Page, address: str, names: list[str]) -> list[str]:
    """Return what is too wide on each page, and what it loads from elsewhere."""
    found: list[str] = []
    elsewhere = lambda request: request.url.startswith(address) or found.append(request.url)  # noqa: E731
    page.on("request", elsewhere)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for name in names:
            page.goto(f"{address}/{name}")
            found += [f"{name} at {width}: {wide}" for wide in page.evaluate(WIDE)]
    return found


def hits(page: Page, address: str, words: str) -> list[str]:
    """Return the pages that the site's search names first."""
    page.goto(f"{address}/search.html?q={words}")
    page.wait_for_selector("#search-results ul.search li a", timeout=20_000)
    page.wait_for_timeout(500)
    links = page.query_selector_all("#search-results ul.search > li > a")
    return [(link.get_attribute("href") or "").partition(".html")[0] for link in links[:3]]


def main() -> None:
    """Print the faults of a site."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("site", type=Path)
    site = parser.parse_args().site
    handler = functools.partial(Quiet, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    pages = [
        str(path.relative_to(site))
        for path in sorted(site.rglob("*.html"))
        if '"article-container"' in path.read_text("utf-8") and "_modules" not in path.parts
    ]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page()
        faults = faults_of(page, address, pages)
        for words, wanted in SEARCHES.items():
            first = hits(page, address, words)
            if wanted not in first:
                faults.append(f"search for {words}: {', '.join(first)}, not {wanted}")
        browser.close()
    print(
        "\n".join(faults) or f"{len(pages)} pages at {WIDTHS}, {len(SEARCHES)} searches: no fault"
    )
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
