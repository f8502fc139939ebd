from pathlib import Path

import pytest

from vifidel_eval.captions import system_names


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["captions_val2017_human_results.json"], ["human"]),
        (["runs/captions_test2014_up_down_results.json", "beam.json"], ["up_down", "beam"]),
        (["beam_results.json", "captions_val2014_results.json"], ["beam", "captions_val2014"]),
        (
            ["captions_val2014_a_results.json", "captions_test2014_a_results.json"],
            ["captions_val2014_a_results", "captions_test2014_a_results"],
        ),
        (["-", "beam.json"], ["stdin", "beam"]),
        ([], []),
    ],
)
def test_system_names(paths, names):
    assert system_names([Path(path) for path in paths]) == names


def test_systems_with_files_of_one_name_are_called_by_their_paths():
    paths = [Path("a", "results.json"), Path("b", "results.json")]
    assert system_names(paths) == [str(path) for path in paths]
