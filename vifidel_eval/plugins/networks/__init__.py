"""Metrics that are neural networks: the networks, and the features of images that they read."""

#: A caption's most tokens; further ones are cut off, the closing ``[SEP]`` with them.
MOST_TOKENS = 37
