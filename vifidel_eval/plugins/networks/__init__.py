"""Metrics that are neural networks: the networks, and the features of images that they read."""
