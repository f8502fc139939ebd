"""Answers of models as objects mean in rewards and tables what they mean in files of objects."""

import pytest

import vifidel_eval
from vifidel_eval.rewards import compute_score, trl_reward

pa = pytest.importorskip("pyarrow")
from vifidel_eval.plugins.tables.files import OpenTable, find_tables  # noqa: E402
from vifidel_eval.tables import TableScorer  # noqa: E402

BOTH = '["dog", "couch"]'
ANSWERS = [
    "dog | couch", "dog, couch", "dog; couch", "1. dog\n2. couch", "- dog\n- a couch", BOTH,
    "['dog', 'couch']", f"```json\n{BOTH}\n```", '{"dog": 1, "couch": 1}',
]  # fmt: skip
CAPTION = "A dog on a couch."


def by_trl(_, answer):
    return trl_reward("VIFIDEL-F", references=None)([CAPTION], objects=[answer])[0]


def by_verl(_, answer):
    return compute_score("", CAPTION, answer)["score"]


def by_table(_, answer):
    scorer = TableScorer("VIFIDEL-PRF", strict=True)
    return scorer.score([CAPTION], pa.array([answer]))[0].as_py()["VIFIDEL_F"]


def by_file(tmp_path, answer, name="a.csv"):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"caption": [CAPTION], "labels": [answer]})
    write = {"a.csv": frame.to_csv, "a.parquet": frame.to_parquet}[name]
    write(tmp_path / name, index=False)
    (file,) = find_tables([str(tmp_path / name)])
    scorer = TableScorer("VIFIDEL-PRF", strict=True)
    (batch,) = OpenTable(file, scorer.columns).batches()
    return scorer(batch).to_pylist()[0]["VIFIDEL_F"]


DOORS = {
    "trl": by_trl,
    "verl": by_verl,
    "a column": by_table,
    "CSV": by_file,
    "Parquet": lambda tmp, answer: by_file(tmp, answer, "a.parquet"),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_caption_of_both_things_is_all_there_is(tmp_path, door, answer):
    # It mentions the two things that are there, and nothing else: P = R = F = 1.
    assert DOORS[door](tmp_path, answer) == pytest.approx(1)


@pytest.mark.parametrize("door", DOORS)
def test_what_is_no_answer_is_refused_alike(tmp_path, door):
    message = "the label is '17'; write the name of the class"
    with pytest.raises(vifidel_eval.VifidelError, match=message):
        DOORS[door](tmp_path, "17 ")
