import re

import pytest

from vifidel_eval import VifidelError
from vifidel_eval.scores.scores import ByName, chosen_columns

METRICS = {"Bleu_1": "BLEU", "Bleu_2": "BLEU", "CIDEr": "CIDEr", "VIFIDEL-P": "VIFIDEL-PRF"}


def test_columns_are_chosen_ordered_and_found_in_any_case():
    assert chosen_columns(["cider", "BLEU"], METRICS) == ["CIDEr", "Bleu_1", "Bleu_2"]
    assert chosen_columns(["Bleu_2", "BLEU"], METRICS) == ["Bleu_2", "Bleu_1"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("CIDRe", "there is no column 'CIDRe'. Did you mean 'CIDEr'? The columns are Bleu_1, B"),
        ("vifidel-pr", "Did you mean 'VIFIDEL-P"),
        ("xyzzy", "there is no column 'xyzzy'. The columns are Bleu_1, Bleu_2, CIDEr, VIFIDEL-P."),
    ],
)
def test_a_mistyped_column_is_one_sentence(name, said):
    with pytest.raises(VifidelError, match=re.escape(said)):
        chosen_columns([name], METRICS)


def test_values_by_name_are_a_dict_that_says_which_names_there_are():
    names = ByName("system", {"a b": 1, "base": 2})
    assert names == {"a b": 1, "base": 2}
    assert names["base"] == 2
    assert names.get("c", 7) == 7
    with pytest.raises(KeyError) as caught:
        names["bas"]
    assert str(caught.value) == (
        "there is no system 'bas'. Did you mean 'base'? The systems are a b, base."
    )
    with pytest.raises(
        VifidelError, match=r"^there is no column 'x'\. There is no column at all\.$"
    ):
        ByName("column", {})["x"]
