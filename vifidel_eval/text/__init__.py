"""Captions as text: their content words, and the language that they are in."""
