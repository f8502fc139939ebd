"""Make the pictures of the README: the report of the example, on a desk and on a phone.

    python docs/images/make.py [FOLDER]

Needs Chromium and Playwright (the extra ``dev``); writes report.png and report_words.png to the
folder, docs/images by default. The example has no photographs: a scene of plain shapes is drawn
from the boxes of each image.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Page, sync_playwright

from vifidel_eval.annotations import read_boxes
from vifidel_eval.io.pictures import file_names

ROOT = Path(__file__).parents[2]
INSTANCES = ROOT / "examples" / "instances_example.json"
HEIGHT, GAP = 1060, 24


def draw_scenes(folder: Path) -> None:
    """Draw a picture of each image of the example: every box a shape in its label's colour."""
    names = file_names([INSTANCES])
    for image_id, of_image in read_boxes(INSTANCES).items():
        assert of_image.size is not None
        width, height = map(int, of_image.size)
        scene = Image.new("RGB", (width, height), "#cfe3ef")
        pen = ImageDraw.Draw(scene)
        pen.rectangle((0, int(0.62 * height), width, height), fill="#c9d3ae")
        for box in sorted(of_image.boxes, key=lambda box: -box.width * box.height):
            colour = f"hsl({zlib.crc32(box.label.encode()) % 360}, 38%, 55%)"
            corners = (box.x, box.y, box.x + box.width, box.y + box.height)
            pen.rounded_rectangle(corners, min(box.width, box.height) / 4, fill=colour)
        scene.save(folder / names[image_id], quality=90)


def write_report(path: Path, pictures: Path) -> None:
    """Write the report of the example."""
    examples = ROOT / "examples"
    command = ["score", *map(str, sorted(examples.glob("*_results.json")))]
    command += ["--references", str(examples / "captions_example.json")]
    command += ["--objects", str(INSTANCES), "--images", str(pictures), "--report", str(path)]
    code = f"from vifidel_eval.commands.main import main; main({command})"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def shot(page: Page) -> Image.Image:
    """Return what a screen shows."""
    page.wait_for_timeout(300)
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def opened(browser: Browser, address: str, width: int, scheme: str, place: str) -> Page:
    """Return the report on a screen, scrolled to a place."""
    page = browser.new_page(viewport={"width": width, "height": HEIGHT}, color_scheme=scheme)
    page.goto(address)
    # Below the bar that stays in sight.
    above = "part => scrollTo(0, part.getBoundingClientRect().top + scrollY - 64)"
    page.locator(place).first.evaluate(above)
    return page


def side_by_side(name: str, *pictures: Image.Image) -> None:
    """Write pictures beside each other."""
    width = sum(picture.width for picture in pictures) + GAP * (len(pictures) - 1)
    together = Image.new("RGB", (width, HEIGHT), "white")
    left = 0
    for picture in pictures:
        together.paste(picture, (left, 0))
        left += picture.width + GAP
    target = Path(*sys.argv[1:2] or [ROOT / "docs" / "images"]) / name
    together.quantize(200).save(target, optimize=True)
    print(f"{name}: {target.stat().st_size / 1e3:.0f} kB")


def main() -> None:
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path, scenes = Path(folder) / "report.html", Path(folder) / "scenes"
        scenes.mkdir()
        draw_scenes(scenes)
        write_report(path, scenes)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"))
        address = path.as_uri()
        top = shot(opened(browser, address, 1120, "light", "body"))
        phone = opened(browser, address, 400, "dark", "article .gold")
        phone.locator("article .said.absent").first.focus()
        side_by_side("report.png", top, shot(phone))
        plot = opened(browser, address, 1120, "light", "#agreement")
        words = opened(browser, address, 760, "light", "article")
        words.locator("article .said.there").first.hover()
        side_by_side("report_words.png", shot(plot), shot(words))
        browser.close()


if __name__ == "__main__":
    main()
