"""``info --cite``: the paragraph on CHAIR for a paper's appendix."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from vifidel_eval.commands.main import main

EXAMPLES = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    path = tmp_path_factory.mktemp("scores") / "scores.json"
    arguments = ["score", EXAMPLES / "captions_example_dreaming_results.json"]
    arguments += ["--references", EXAMPLES / "captions_example.json", "--objects"]
    arguments += [EXAMPLES / "instances_example.json", "--metrics", "CHAIR", "--output", path]
    assert CliRunner().invoke(main, list(map(str, arguments))).exit_code == 0
    return path


def test_the_paragraph_says_what_the_file_says(scores):
    content = json.loads(scores.read_text("utf-8"))
    result = CliRunner().invoke(main, ["info", "--cite", str(scores)])
    assert result.exit_code == 0, result.output
    [(name, system)] = content["systems"].items()
    text = " ".join(result.output.split())
    assert text.startswith(f"{name}: We report CHAIR (Rohrbach et al., 2018) as computed by")
    assert f"CHAIRi {system['overall']['CHAIRi']:.4f}" in text
    assert f"with captions of {system['overall']['CHAIR-Len']:.4f} tokens" in text
    assert "the synonyms of vifidel-eval (digest" in text
    assert "and those that its reference captions mention by the same rules (digest" in text
    assert f"The {len(system['imgToEval'])} images have the digest" in text
    assert "Captions were evaluated as generated." in text
    assert content["signatures"]["CHAIRi"] in text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"signatures": {"WMD": "WMD|"}, "systems": {}}, "CHAIR is not among its metrics"),
        ([], "not what score --output writes"),
        ({"signatures": {"CHAIRi": "CHAIR"}, "systems": {"x": {}}}, "not what score --output"),
    ],
)
def test_other_files_are_refused_in_one_sentence(tmp_path, content, said):
    path = tmp_path / "other.json"
    path.write_text(json.dumps(content), "utf-8")
    result = CliRunner().invoke(main, ["info", "--cite", str(path)])
    assert result.exit_code == 1
    assert said in result.output
    assert result.output.count("\n") == 1
