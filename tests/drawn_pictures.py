"""Pictures that are drawn here, and the files of detections that runs make of them."""

import json

from PIL import Image, ImageDraw


def drawn(number: int, size=(120, 90)) -> Image.Image:
    picture = Image.new("RGB", size, (40 * number % 256, 90, 160))
    pencil = ImageDraw.Draw(picture)
    pencil.ellipse((10, 10, 30 + 4 * number, 50), fill="red")
    pencil.rectangle((60, 20 + number, 100, 70), fill="yellow")
    return picture


def read_lines(path):
    """Return the header of a file of detections, and its other lines by image id."""
    header, *lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    assert header["vifidel_eval"] == "detections"
    by_id: dict[str, list] = {}
    for line in lines:
        by_id.setdefault(line["image_id"], []).append(line)
    return header, by_id
