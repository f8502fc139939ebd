import json

from vifidel_eval.scores.scores_file import read_scores, scores_text


def test_a_file_of_version_0_2_0_has_zeros_for_what_a_metric_never_counts(tmp_path):
    counts = {"scored": 1, "missing": 0, "undefined": 0, "no_words": 0, "unknown_words": 0}
    counts |= dict.fromkeys(("unweighted", "no_mentions", "incomplete", "unconfirmed"), 0)
    row = {"image_id": 1, "Bleu_4": 0.5}
    document = {
        "scores": 1,
        "signatures": {"Bleu_4": "BLEU|version:0.2.0"},
        "systems": {
            "x": {"overall": {"Bleu_4": 0.5}, "counts": {"Bleu_4": counts}, "imgToEval": {"1": row}}
        },
    }
    path = tmp_path / "scores.json"
    path.write_text(json.dumps(document), "utf-8")
    scores, _ = read_scores(path)
    assert scores.evaluations["x"]["Bleu_4"].score == 0.5
    assert scores.counts("x") == counts
    assert json.loads(scores_text(scores)) == document
