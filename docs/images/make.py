"""Make the pictures of README and docs: the report of the example, and agreement with people.

    python docs/images/make.py [FOLDER [DATA]]

Needs Chromium and Playwright (the extra ``dev``); writes to the folder, docs/images by default. The
example has no photographs: a scene of plain shapes is drawn from the boxes of each image. The
figures of agreement are drawn if DATA holds ``pascal50s`` and ``flickr8k``, and need Java.
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
FOLDER = Path(*sys.argv[1:2] or [ROOT / "docs" / "images"])
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
    run(command)


def run(command: list[str]) -> None:
    """Run a command of the program."""
    code = f"from vifidel_eval.commands.main import main; main({command})"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def draw_agreement(data: Path) -> None:
    """Draw how metrics agree with people, as the commands in docs/agreement.md do."""
    metrics = "VIFIDEL-PRF,WMD,BLEU,ROUGE_L,CIDEr,METEOR"
    folder = data / "pascal50s"
    command = ["agreement", "pascal50s", str(folder), "--objects", str(folder / "Annotations")]
    command += ["--metrics", f"VIFIDEL,{metrics}", "--figure", str(FOLDER / "pascal50s.svg")]
    run(command)
    command = ["agreement", "flickr8k", str(data / "flickr8k"), "--metrics", metrics]
    command += ["--figure", str(FOLDER / "flickr8k.svg")]
    run([*command, "--figure-by-rating", str(FOLDER / "flickr8k_ratings.svg")])


def shot(page: Page) -> Image.Image:
    """Return what a screen shows."""
    page.wait_for_timeout(300)
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def opened(
    browser: Browser, address: str, width: int, scheme: str, place: str, height: int = HEIGHT
) -> Page:
    """Return the report on a screen, scrolled to a place; that of a phone has two dots a pixel."""
    size, dots = {"width": width, "height": height}, 2 if width < 400 else 1
    page = browser.new_page(viewport=size, color_scheme=scheme, device_scale_factor=dots)
    page.goto(address)
    # Below the bar that stays in sight.
    above = "part => scrollTo(0, part.getBoundingClientRect().top + scrollY - 64)"
    page.locator(place).first.evaluate(above)
    return page


def side_by_side(name: str, *pictures: Image.Image) -> None:
    """Write pictures beside each other."""
    width = sum(picture.width for picture in pictures) + GAP * (len(pictures) - 1)
    together = Image.new("RGB", (width, pictures[0].height), "white")
    left = 0
    for picture in pictures:
        together.paste(picture, (left, 0))
        left += picture.width + GAP
    target = FOLDER / name
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
        top = shot(opened(browser, address, 1200, "light", "body"))
        phone = opened(browser, address, 400, "dark", "article .gold")
        phone.locator("article .said.absent").first.focus()
        side_by_side("report.png", top, shot(phone))
        plot = opened(browser, address, 1120, "light", "#agreement")
        words = opened(browser, address, 760, "light", "article")
        words.locator("article .said.there").first.hover()
        side_by_side("report_words.png", shot(plot), shot(words))
        side_by_side("phone.png", shot(opened(browser, address, 390, "light", "body", 844)))
        caption = opened(browser, address, 390, "light", "article .gold", 844)
        caption.locator("article .said.absent").first.focus()
        side_by_side("phone_words.png", shot(caption))
        browser.close()
    for data in sys.argv[2:3]:
        draw_agreement(Path(data))


if __name__ == "__main__":
    main()
