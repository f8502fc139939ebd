"""Metrics that are neural networks: the networks, and the features of images that they read."""

#: How many tokens of a caption are read; the rest is cut off, with the closing ``[SEP]``.
MOST_TOKENS = 37
