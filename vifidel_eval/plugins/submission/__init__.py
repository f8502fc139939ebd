"""COCO's results format: what is wrong with a file in it, and one written from any captions.

The format (https://cocodataset.org/#format-results) is a JSON list of ``{"image_id", "caption"}``
with one caption for every image of a split. Evaluation servers and ``COCO.loadRes`` of pycocotools
take it; COCO's own server wanted it to be called ``captions_[split]_[algorithm]_results.json``.
"""
