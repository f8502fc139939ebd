"""Plain per-caption VIFIDEL for the tests: the paper's formulas in loops, solved by SciPy's LP.

Shares no code with the package but the content words, and follows Madhyastha et al. (2019)
equation by equation. ``vector_of`` maps a word or label to its vector.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.optimize import linprog


def cosine(x: np.ndarray, y: np.ndarray) -> float:
    return float(x @ y / math.sqrt((x @ x) * (y @ y)))


def penalty(word: str, references: Sequence[Sequence[str]], vector_of: Callable) -> float:
    """Eq. 4; references are lists of content words, those without words do not count."""
    usable = [reference for reference in references if reference]
    if not usable:
        return 1.0
    terms = []
    for reference in usable:
        best = max(cosine(vector_of(word), vector_of(other)) for other in reference)
        terms.append((1 - best) / 2)
    return sum(terms) / len(terms)


def transport_distance(left: Sequence[float], right: Sequence[float], costs: np.ndarray) -> float:
    """Eq. 2 as a linear program."""
    rows, columns = costs.shape
    marginals = np.zeros((rows + columns, rows * columns))
    for i in range(rows):
        marginals[i, i * columns : (i + 1) * columns] = 1
    for j in range(columns):
        marginals[rows + j, j::columns] = 1
    solution = linprog(
        costs.ravel(),
        A_eq=marginals,
        b_eq=np.concatenate([left, right]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert solution.success, solution.message
    return float(solution.fun)


def vifidel(
    labels: Mapping[str, int],
    words: Sequence[str],
    references: Sequence[Sequence[str]],
    vector_of: Callable,
    p: int = 2,
    counts: bool = True,
    solve: Callable = transport_distance,
) -> float:
    """Eq. 3, or with references Eq. 5 in Eq. 3; `solve` returns the distance of Eq. 2."""
    if not labels:
        return math.nan
    if not words:
        return 0.0
    caption = Counter(words)
    costs = np.array(
        [
            [
                float(
                    np.linalg.norm(
                        penalty(label, references, vector_of) * vector_of(label)
                        - penalty(word, references, vector_of) * vector_of(word)
                    )
                )
                ** p
                for word in caption
            ]
            for label in labels
        ]
    )
    instances = np.array([labels[label] if counts else 1 for label in labels], dtype=float)
    occurrences = np.array(list(caption.values()), dtype=float)
    return math.exp(-solve(instances / instances.sum(), occurrences / occurrences.sum(), costs))
