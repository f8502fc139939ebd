"""Pictures per second, with and without threads and drafts, and passes of the image encoder.

    pip install '.[detect]' && python benchmarks/detect.py

The models are tiny, with random weights, so that decoding and preparing are what takes time, as
they do beside a graphics processor. Pictures are made up: noise of 12 megapixels as JPEG, and of
.3 megapixels as PNG. Wall-clock seconds of one run each, after one that is not counted.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image
from tabulate import tabulate

from vifidel_eval.detect import PictureSource, detect, find_model, load_detector

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

THINGS = [f"thing {number}" for number in range(12)]
# What encodes the picture in each family.
ENCODERS = {
    "rt_detr": "model.backbone",
    "owlvit": "owlvit.vision_model",
    "owlv2": "owlv2.vision_model",
    "grounding_dino": "model.backbone",
    "sam3": "vision_encoder",
}


def make_pictures(folder: Path, kind: str, number: int, size: tuple[int, int]) -> Path:
    """Write pictures of noise that is coarse enough for a JPEG of the usual size."""
    folder.mkdir()
    source = np.random.default_rng(0)
    for at in range(number):
        coarse = source.integers(0, 256, (size[1] // 16, size[0] // 16, 3), dtype=np.uint8)
        picture = Image.fromarray(coarse).resize(size, Image.Resampling.BICUBIC)
        picture.save(folder / f"{at}.{kind}")
    return folder


def seconds(photos: Path, model: Path, work: Path, **settings: object) -> float:
    """Return how long a run over all pictures takes."""
    detector = load_detector(find_model(model))
    taken = []
    for repeat in range(2):
        output = work / f"{time.monotonic_ns()}-{repeat}.jsonl"
        start = time.perf_counter()
        detect(PictureSource(photos), detector, output, **settings)  # type: ignore[arg-type]
        taken.append(time.perf_counter() - start)
    return taken[-1]


def passes(photos: Path, model: Path, family: str, work: Path) -> float:
    """Return how often the image encoder sees a picture if twelve questions are asked."""
    detector = load_detector(find_model(model))
    seen: list[int] = []
    network = detector._model  # type: ignore[attr-defined]
    network.get_submodule(ENCODERS[family]).register_forward_hook(lambda *_: seen.append(1))
    pictures = PictureSource(photos)
    assert pictures.image_ids is not None
    asked = dict.fromkeys(pictures.image_ids, THINGS) if detector.classes is None else None
    detect(pictures, detector, work / f"{family}.jsonl", questions=asked)
    return len(seen) / len(pictures.image_ids)


def main() -> None:
    import tiny_detectors
    import torch

    torch.set_num_threads(1)  # more would only wait for the decoding threads
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        large = make_pictures(work / "large", "jpg", 12, (4032, 3024))
        small = make_pictures(work / "small", "png", 40, (640, 480))
        models = {family: getattr(tiny_detectors, family)(work / family) for family in ENCODERS}
        rows = []
        for name, photos in (("12 megapixels, JPEG", large), ("640 x 480, PNG", small)):
            number = len(list(photos.iterdir()))
            for threads, drafts in ((1, False), (1, True), (4, False), (4, True)):
                took = seconds(photos, models["rt_detr"], work, threads=threads, drafts=drafts)
                rows.append((name, threads, "yes" if drafts else "no", number / took))
        print(
            tabulate(rows, ("pictures", "threads", "drafts", "pictures a second"), floatfmt=".1f")
        )
        print()
        each = [(family, passes(small, models[family], family, work)) for family in models]
        print(tabulate(each, ("model", "passes per picture, 12 questions"), floatfmt=".1f"))


if __name__ == "__main__":
    main()
