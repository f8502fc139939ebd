from vifidel_eval.report.fitting import folded

VIFIDEL = "VIFIDEL|refs:yes|objects:coco#1|pot:0.9|version:1"
PRF = "VIFIDEL-PRF|refs:yes|objects:coco#1|numpy:2|version:1"
BLEU = "BLEU|tok:ptb|version:1"
WMD = "WMD|pot:0.9|version:1"


def test_every_part_is_said_once_with_the_metrics_that_have_it():
    lines = folded([VIFIDEL, PRF, WMD, BLEU, BLEU], 100)
    assert lines == [
        "VIFIDEL-PRF|numpy:2",
        "BLEU|tok:ptb",
        "VIFIDEL, VIFIDEL-PRF: refs:yes|objects:coco#1",
        "VIFIDEL, WMD: pot:0.9",
        "All: version:1",
    ]


def test_what_is_said_gives_the_signatures_back():
    signatures = [VIFIDEL, PRF, WMD, BLEU]
    said = {signature.partition("|")[0]: set() for signature in signatures}
    for line in folded(signatures, 1000):
        names, _, parts = line.partition(": ") if ": " in line else line.partition("|")
        for name in said if names == "All" else names.split(", "):
            said[name] |= set(parts.split("|"))
    assert said == {s.partition("|")[0]: set(s.split("|")[1:]) for s in signatures}


def test_one_signature_and_those_of_combinations_stay_whole():
    assert folded([VIFIDEL], 100) == [VIFIDEL]
    mean = f"VIFIDEL+BLEU|scaled:no|({VIFIDEL}) + ({BLEU})"
    assert folded([VIFIDEL, BLEU, mean], 1000)[-1] == mean
    assert "All:" not in "".join(folded([VIFIDEL, BLEU, mean], 1000))


def test_long_lines_are_broken_between_parts():
    lines = folded([VIFIDEL], 30)
    assert lines == ["VIFIDEL|refs:yes", "  |objects:coco#1|pot:0.9", "  |version:1"]
    assert "".join(line.strip() for line in lines) == VIFIDEL
