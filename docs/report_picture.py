"""Draw the README's picture of a report: the example's, on a desk and on a phone.

    python docs/report_picture.py

Needs Chromium and Playwright (the extra ``dev``); writes docs/images/report.png.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[1]
HEIGHT, GAP = 1060, 24


def write_report(path: Path) -> None:
    """Write the report of the example."""
    examples = ROOT / "examples"
    command = ["score", *map(str, sorted(examples.glob("*_results.json")))]
    command += ["--references", str(examples / "captions_example.json")]
    command += ["--objects", str(examples / "instances_example.json"), "--report", str(path)]
    code = f"from vifidel_eval.commands.main import main; main({command})"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def shot(browser: Browser, address: str, width: int, scheme: str, *, plan: bool) -> Image.Image:
    """Return what a screen shows: the top, or the first image with a plan opened."""
    page = browser.new_page(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme)
    page.goto(address)
    if plan:
        page.locator("details.plan").nth(1).evaluate("plan => (plan.open = true)")
        page.locator("article").first.evaluate("card => scrollTo(0, card.offsetTop - 16)")
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def main() -> None:
    """Write the picture."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "report.html"
        write_report(path)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"))
        desk = shot(browser, path.as_uri(), 1120, "light", plan=False)
        phone = shot(browser, path.as_uri(), 400, "dark", plan=True)
        browser.close()
    picture = Image.new("RGB", (desk.width + GAP + phone.width, HEIGHT), "white")
    picture.paste(desk, (0, 0))
    picture.paste(phone, (desk.width + GAP, 0))
    target = ROOT / "docs" / "images" / "report.png"
    picture.quantize(160).save(target, optimize=True)
    print(f"{target}: {target.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
