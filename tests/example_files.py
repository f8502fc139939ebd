"""The files of the example: captions of two systems, references and objects."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
NAMES = ("captions_example_careful_results", "captions_example_dreaming_results")
NAMES += ("captions_example", "instances_example")
EXAMPLE = [ROOT / "examples" / f"{name}.json" for name in NAMES]
#: Those of six of its images.
SIX = [ROOT / "tests" / "data" / f"{name}.json" for name in NAMES]
