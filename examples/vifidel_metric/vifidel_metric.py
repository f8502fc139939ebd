"""VIFIDEL-PRF as a module of Hugging Face's `evaluate`: nothing is downloaded.

Load it by the path of this folder: ``evaluate.load("examples/vifidel_metric")``.
"""

import datasets
import evaluate
import numpy as np

from vifidel_eval.scorers import VifidelPRF


class VifidelMetric(evaluate.Metric):
    """VIFIDEL-P, VIFIDEL-R and VIFIDEL-F: means over captions, undefined ones left out."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description="What captions make up, and what they leave out.",
            citation="Madhyastha et al., 2019 (doi:10.18653/v1/P19-1654)",
            inputs_description="predictions, references and object labels: one entry per caption",
            features=datasets.Features(
                {
                    "predictions": text,
                    "references": datasets.Sequence(text),
                    "objects": datasets.Sequence(text),
                }
            ),
        )

    def _compute(self, predictions, references, objects):
        columns = VifidelPRF().score_columns(predictions, objects=objects, references=references)
        return {name: float(np.nanmean(scores)) for name, scores in columns.items()}
