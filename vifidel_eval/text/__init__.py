"""Captions as text: content words, and the language they are in."""
