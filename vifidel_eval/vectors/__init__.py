"""Word vectors: the embedded default and everything gensim holds."""

from .sources import EMBEDDED_NAME, WordVectors, load_vectors

__all__ = ["EMBEDDED_NAME", "WordVectors", "load_vectors"]
