"""Screens of reports, to be looked at: on a desk, on a phone, in the dark and printed.

    python benchmarks/report_screens.py REPORT.html ... --folder FOLDER

Writes a picture of each part of each report as NAME-SCREEN-PART.png, and prints what axe and the
console have to say. Needs Chromium, Playwright and axe (the extra ``dev``).
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright
from tabulate import tabulate

HEIGHT = 1000
SCREENS = {
    "desk": {"viewport": {"width": 1440, "height": HEIGHT}},
    "phone": {"viewport": {"width": 390, "height": HEIGHT}},
    "dark": {"viewport": {"width": 1440, "height": HEIGHT}, "color_scheme": "dark"},
    "print": {"viewport": {"width": 720, "height": HEIGHT}},
}
PARTS = ["body", "#duels", "#scores", "#distributions", "#things", "#categories", ".status"]
# Below the bar that stays in sight.
ABOVE = "part => scrollTo(0, part.getBoundingClientRect().top + scrollY - 64)"


def taken(page: Page, start: str) -> None:
    """Write the pictures of an open report."""
    for part in PARTS:
        found = page.locator(part).first
        if found.count():
            found.evaluate(ABOVE)
            page.wait_for_timeout(300)
            page.screenshot(path=f"{start}-{part.strip('#.')}.png")
    beside = page.locator("[name=beside]")
    if beside.count() and beside.is_visible():
        page.locator("#filters [name=system]").select_option(index=1)
        beside.select_option(index=2)
        page.locator("#cards").evaluate(ABOVE)
        page.wait_for_timeout(300)
        page.screenshot(path=f"{start}-pair.png")


def look(browser: Browser, report: Path, folder: Path) -> list[tuple[str, str, int, str]]:
    """Return the report's name, the screen, the violations of axe, and what the console says."""
    rows = []
    for screen, settings in SCREENS.items():
        page = browser.new_page(**settings)
        messages: list[str] = []
        page.on("console", lambda message, to=messages: to.append(message.text))
        page.on("pageerror", lambda problem, to=messages: to.append(str(problem)))
        page.goto(report.resolve().as_uri())
        if screen == "print":
            page.emulate_media(media="print")
        taken(page, str(folder / f"{report.stem}-{screen}"))
        violations = Axe().run(page).violations_count if screen != "print" else 0
        rows.append((report.stem, screen, violations, "; ".join(messages)))
        page.close()
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reports", type=Path, nargs="+")
    parser.add_argument("--folder", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"))
        rows = [row for path in arguments.reports for row in look(browser, path, arguments.folder)]
        browser.close()
    print(tabulate(rows, ["report", "screen", "axe", "console"]))


if __name__ == "__main__":
    main()
