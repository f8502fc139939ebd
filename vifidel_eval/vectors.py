"""Word vectors, under their documented name: `vifidel_eval.words.word_vectors`."""

from .words.word_vectors import EMBEDDED_NAME, VectorSource, WordVectors, load_vectors

__all__ = ["EMBEDDED_NAME", "VectorSource", "WordVectors", "load_vectors"]
