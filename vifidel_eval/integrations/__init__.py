"""Adapters for other people's training and evaluation tools; the core imports none of them."""
