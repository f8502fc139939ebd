"""The engine against a linear program on a whole corpus.

    python benchmarks/exactness.py CAPTIONS.json RESULTS.json INSTANCES.json

Scores every caption with the engine and with the tests' plain implementation, whose transport
problems SciPy solves as linear programs, and prints the largest difference for every setting.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
from speed import unit_vectors, vifidel
from tabulate import tabulate
from tqdm import tqdm

from vifidel_eval import Vifidel, content_words
from vifidel_eval.annotations import read_objects
from vifidel_eval.captions import read_references, read_results


@click.command()
@click.argument("references", type=click.Path(exists=True, path_type=Path))
@click.argument("results", type=click.Path(exists=True, path_type=Path))
@click.argument("instances", type=click.Path(exists=True, path_type=Path))
def main(references: Path, results: Path, instances: Path) -> None:
    """Compare on COCO files: REFERENCES, RESULTS of one system, INSTANCES."""
    captions, objects, vector_of = read_results(results), read_objects(instances), unit_vectors()
    gts = {i: texts for i, texts in read_references(references).items() if i in captions}
    rows = []
    for weighted in (True, False):
        for p in (2, 1):
            scorer = Vifidel(instances, references=weighted, p=p)
            _, scores = scorer.compute_score(gts, {i: [captions[i]] for i in gts})
            expected = [
                vifidel(
                    objects[i],
                    content_words(captions[i]),
                    [content_words(text) for text in gts[i]] if weighted else [],
                    vector_of,
                    p,
                )
                for i in tqdm(gts, disable=None, leave=False)
            ]
            both_undefined = np.isnan(scores) == np.isnan(expected)
            rows.append(
                (
                    "yes" if weighted else "no",
                    p,
                    len(scores),
                    int(np.isnan(scores).sum()),
                    int((~both_undefined).sum()),
                    float(np.nanmax(np.abs(scores - expected))),
                )
            )
    headers = ["references", "p", "captions", "undefined", "disagree on it", "largest difference"]
    print(tabulate(rows, headers=headers, floatfmt=".1e"))


if __name__ == "__main__":
    main()
