"""Open Images image labels, a CSV with ``ImageID``, ``Source``, ``LabelName`` and ``Confidence``.

Format: https://storage.googleapis.com/openimages/web/download_v7.html. Labels that people verified
have a confidence of 1 (there) or 0 (not there); those of machines have a score.
"""

from __future__ import annotations

from .csv_rows import score_of
from .format import Format, Way
from .instances import Instances
from .objects import ANSWER_THRESHOLD, ObjectLabels
from .open_images import class_name, labelled


def read_image_labels(text: str, found: Instances) -> ObjectLabels:
    """Read image labels: each was looked for, and is there or not.

    Where several sources verified a label, one that found it is believed.
    """
    found.counts_from(ANSWER_THRESHOLD)
    for at, row in labelled(text, found.where):
        image_id = row["ImageID"]
        name = class_name(row["LabelName"], found, at)
        score = score_of(row["Confidence"], at)
        found.scored = found.scored or 0 < score < 1
        found.asked_in(image_id)
        there = found.there(score)
        if there is None:
            found.unsure += 1
            continue
        label = found.ask(image_id, name, at)
        if there and label:
            found.image(image_id)[label] = 1
    return found.object_labels("image-labels", says_asked=True)


FORMAT = Format(
    "Open Images labels CSV",
    "Open Images image labels CSV, verified by people or from machines",
    ".5",
    "a `Confidence` of 0 is not there; `--categories oidv7-class-descriptions.csv`",
    (Way("table", ("ImageID", "Source", "LabelName", "Confidence", "!XMin"), read_image_labels),),
)
