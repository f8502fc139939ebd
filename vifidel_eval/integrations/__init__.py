"""Adapters for other people's training and evaluation tools; nothing else of the package uses them."""
