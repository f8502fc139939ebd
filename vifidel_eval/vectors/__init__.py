"""Word vectors: the embedded default and everything gensim holds."""

from .sources import EMBEDDED_NAME, VectorSource, WordVectors, load_vectors

__all__ = ["EMBEDDED_NAME", "VectorSource", "WordVectors", "load_vectors"]
