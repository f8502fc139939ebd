"""Plain per-caption VIFIDEL-PRF for the tests: the first edition's formulas in loops."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np


def near(x: np.ndarray, y: np.ndarray) -> float:
    cosine = float(x @ y / math.sqrt((x @ x) * (y @ y)))
    return max(0.0, cosine - 0.1) / 0.9


def plain(words, labels, references, vector_of, is_thing) -> tuple[float, float, float]:
    """Follow the first edition word by word; all arguments hold known words only."""
    words, references = sorted(set(words)), [set(r) for r in references if r]
    evidence = set(labels).union(*references)
    if not evidence:
        return math.nan, math.nan, math.nan
    if not words:
        return 0.0, 0.0, 0.0
    top = bottom = 0.0
    for word in words:
        support = max(near(vector_of(word), vector_of(e)) for e in evidence)
        weight = 1.0 if is_thing(word) else 0.4 * (1 + support) / 2
        top, bottom = top + weight * support, bottom + weight
    p = top / bottom

    def reached(target):
        return max(near(vector_of(target), vector_of(word)) for word in words)

    if references:
        counts = Counter(word for reference in references for word in reference)
        shares = {word: count / len(references) for word, count in counts.items()}
        total = sum(shares.values())
        k = sum(share * reached(u) for u, share in shares.items()) / total
        d = sum(share**2 for share in shares.values()) / total
        r = k / (k + (1 - k) * math.sqrt(d)) if k else 0.0
    else:
        r = sum(map(reached, set(labels))) / len(set(labels))
    return p, r, (p * r * r) ** (1 / 3)
