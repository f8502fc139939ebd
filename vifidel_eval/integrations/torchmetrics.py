"""The metric of TorchMetrics, under its documented name."""

from ..plugins.training.torchmetrics import VifidelMetric

__all__ = ["VifidelMetric"]
