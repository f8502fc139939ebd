"""Numbers in files: what JSON and C call one, and nothing else that Python reads."""

import pytest

from vifidel_eval import VifidelError, evaluate
from vifidel_eval.annotations import read_objects
from vifidel_eval.io.digits import number_of

NONE = [*"1_000 \u0661\u0662 \uff11 \u00b2 1e400 nan inf 0x1 1,5 -".split(), "1 2", ""]


@pytest.mark.parametrize(
    ("text", "expected"), [("1", 1), (" 1 ", 1), ("-.5", -0.5), ("1.", 1), ("+2e-1", 0.2)]
)
def test_numbers(text, expected):
    assert number_of(text) == expected


@pytest.mark.parametrize("text", NONE)
def test_text_that_is_none(text, tmp_path):
    assert number_of(text) is None
    assert number_of(None) is None
    if not text:
        return
    (scores := tmp_path / "scores.csv").write_text(f'image_id,M\n1,"{text}"\n', "utf-8")
    with pytest.raises(VifidelError, match=r"scores\.csv"):
        evaluate({"a": {1: "a dog"}}, objects={1: ["dog"]}, metrics="CHAIR", scores={"a": scores})
    for column in ("score", "count"):
        (table := tmp_path / "objects.csv").write_text(
            f'image_id,label,{column}\n1,dog,"{text}"\n', "utf-8"
        )
        with pytest.raises(VifidelError, match=rf"objects\.csv.*{column}"):
            read_objects(table)
