"""Explanations of what in a caption is in the image, as results that a person can read."""
