"""A detector that sees colours: what runs do with one, without a library that computes."""

from collections import Counter
from pathlib import Path

import numpy as np

from vifidel_eval.detect import Found, ModelFiles
from vifidel_eval.errors import VifidelError
from vifidel_eval.plugins.detect.detectors import Prepared

COLOURS = {"red": (200, 0, 0), "green": (0, 200, 0), "blue": (0, 0, 200)}


class ColourDetector:
    """Finds the colour that a picture has most of, or those that it is asked for.

    Attributes
    ----------
    seen : list of (number of pictures, questions)
        How the model was called.
    """

    def __init__(self, asked=False, name="colours", digest="0" * 16, batch=1, most=None):
        self.files = ModelFiles(name, Path(name), digest)
        self.classes = None if asked else tuple(COLOURS)
        self.enough = 64
        self.batch = batch
        self.seen = []
        self._most = most

    def versions(self):
        return {"colours": "1"}

    def check(self, questions):
        for question in questions:
            if len(question) > 20:
                raise VifidelError(f"the question {question!r:.20} is too long.")

    def prepare(self, picture, size):
        if min(size) < 2:
            raise ValueError("height and width must be > 0")
        return Prepared({"pixels": np.asarray(picture.resize((8, 8)))[np.newaxis]}, size)

    def detect(self, pictures, asked, lowest):
        if self._most is not None and len(pictures) > self._most:
            raise MemoryError
        self.seen.append((len(pictures), [list(questions) for questions in asked]))
        result = []
        for picture, questions in zip(pictures, asked, strict=True):
            mean = picture.inputs["pixels"].mean(axis=(0, 1, 2)) / 256
            scores = dict(zip(COLOURS, mean.tolist(), strict=True))
            expected = [name for name in self.classes or questions if scores.get(name, 0) > lowest]
            width, height = picture.size
            box = (0.0, 0.0, float(width), float(height))
            result.append(
                Found(expected, [round(scores[n], 6) for n in expected], [box] * len(expected))
            )
        return result

    def calls(self):
        """Return how often batches of each size were seen."""
        return Counter(size for size, _ in self.seen)
