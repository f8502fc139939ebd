"""Result files in COCO's results format: what is wrong with one, and the zip of COCO's server.

`check_results` checks result files against any list of images: a JSON list of ``{"image_id",
"caption"}`` with one caption for every image. `check` and `pack` add the rules of the COCO caption
evaluation server.

The server's rules and where they are written (pages in https://github.com/cocodataset/cocodataset.github.io;
issues there and in codalab/codalab-competitions):

- One ``results.zip`` with ``captions_val2014_[alg]_results.json`` and
  ``captions_test2014_[alg]_results.json``, both required, [alg] the algorithm's name
  (``dataset/captions-eval.htm``, "Upload Results"). They lie at the top of the zip: the server
  opens them in the folder it unpacks to, and one that it does not find there fails as
  ``captions_val2014__results.json`` (cocodataset.github.io#55, codalab-competitions#3545).
- Each is a list of ``{"image_id": int, "caption": str}`` (``dataset/format-results.htm``).
- The server runs https://github.com/tylin/coco-caption, whose ``loadRes`` refuses unknown image ids
  and whose scorers want one caption for every image of the split.
- The splits have 40 504 and 40 775 images (Chen et al., 2015, arXiv:1504.00325).
- Its tokenizer puts one caption on a line. It turns line feeds into blanks, but other line breaks
  (such as U+2028) make two rows, which moves all captions that follow to the next image.

CodaLab closed this server for new submissions at the end of 2025; whether it moves to Codabench is
open (codalab-competitions#3625). The results format lives on.
"""

from .images import read_image_list, read_images
from .results import ALGORITHM, SPLITS
from .rules import Submission, check, check_results, counted, name_in_zip, pack
from .sources import ZIP_NAME, Fault

__all__ = [
    "ALGORITHM",
    "SPLITS",
    "ZIP_NAME",
    "Fault",
    "Submission",
    "check",
    "check_results",
    "counted",
    "name_in_zip",
    "pack",
    "read_image_list",
    "read_images",
]
