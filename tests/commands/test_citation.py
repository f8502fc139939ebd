"""``info --cite``: paragraphs for a paper's appendix, and BibTeX."""

import json
import re
import shutil
import subprocess

import pytest
import yaml
from example_files import ROOT, SIX

from vifidel_eval import __version__, evaluate
from vifidel_eval.project import ADDRESS
from vifidel_eval.scorers.record import MADHYASTHA_2019, VIFIDEL_EVAL
from vifidel_eval.scorers.registry import METRICS

CAREFUL, DREAMING, *SIDES = SIX


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    path = tmp_path_factory.mktemp("scores") / "scores.json"
    evaluate(DREAMING, *SIDES, "CHAIR").save(path)
    return path


def test_the_paragraph_says_what_the_file_says(scores, run):
    content = json.loads(scores.read_text("utf-8"))
    result = run("info", "--cite", scores)
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


def test_the_papers_and_the_paragraph_on_all_metrics(tmp_path, run):
    path = tmp_path / "scores.json"
    scored = evaluate({"mine": CAREFUL}, *SIDES, ["VIFIDEL-PRF", "WMD", "VIFIDEL+CIDEr"])
    scored.save(path)
    result = run("info", "--cite", path)
    assert result.exit_code == 0, result.output
    paragraph, *entries = result.output.strip().split("\n\n")
    assert paragraph.startswith(
        "We report VIFIDEL-PRF (the vifidel_eval authors, 2026), WMD (Kusner et al., 2015; "
        "Kilickaya et al., 2017) and VIFIDEL+CIDEr (Madhyastha et al., 2019; Vedantam et al., "
        "2015) of 6 images as computed by vifidel-eval "
        f"{__version__}. Signatures: VIFIDEL-PRF|"
    )
    assert all(signature in paragraph for signature in scored.signatures.values())
    keys = [entry.partition("{")[2].partition(",")[0] for entry in entries]
    assert keys == [
        *("vifidel-eval", "kusner-etal-2015-word", "kilickaya-etal-2017-evaluating"),
        *("madhyastha-etal-2019-vifidel", "vedantam-etal-2015-cider"),
    ]
    assert all(entry.count("{") == entry.count("}") for entry in entries)
    kinds = ["@misc{", *["@inproceedings{"] * 4]
    assert all(entry.startswith(kind) for entry, kind in zip(entries, kinds, strict=True))
    assert all(entry.endswith("\n}") for entry in entries)


def test_own_metrics_are_not_credited_to_the_paper_of_vifidel_but_to_this_project():
    own = {name for name, metric in METRICS.items() if VIFIDEL_EVAL in metric.papers}
    assert own == {"VIFIDEL-PRF", "VIFIDEL-H", "VIFIDEL-D"}
    theirs = {name for name, metric in METRICS.items() if MADHYASTHA_2019 in metric.papers}
    assert theirs == {"VIFIDEL", "LM"}
    project = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    entry = " ".join(re.sub(r"[{}\\]", "", VIFIDEL_EVAL.bibtex).split())
    assert f"title = {project['title']}: {project['abstract'].rstrip('.')}," in entry
    assert f"author = {project['authors'][0]['name']}, " in entry
    assert re.search(rf"\byear = {project['date-released'][:4]}\b", entry)
    # One constant names the project's public address, or nothing does.
    assert project.get("repository-code", "") == ADDRESS
    assert (f"url = {ADDRESS}" in entry) == bool(ADDRESS)
    released = project["date-released"][:4]
    assert VIFIDEL_EVAL.cited == f"{project['authors'][0]['name']}, {released}"


ODD = r"50% & #1_{b}|c<d>~e^f\g $h$ i--j"


@pytest.mark.latex
def test_the_latex_of_an_appendix_compiles_with_its_bibliography(tmp_path, run):
    path = tmp_path / "scores.json"
    scored = evaluate({ODD: CAREFUL}, *SIDES, "VIFIDEL,VIFIDEL-PRF,VIFIDEL-H,CHAIR,ROUGE_L")
    scored.save(path)
    result = run("info", "--cite", path, "--format", "latex")
    assert result.exit_code == 0, result.output
    assert r"VIFIDEL-PRF~\cite{vifidel-eval}" in result.output
    assert r"VIFIDEL~\cite{madhyastha-etal-2019-vifidel}" in result.output
    assert r"ROUGE\_L~\cite{lin-2004-rouge}" in result.output
    (tmp_path / "appendix.tex").write_text(result.output, "utf-8")
    (tmp_path / "paper.tex").write_text(
        "\\documentclass{article}\n\\begin{document}\n\\input{appendix}\n"
        "\\bibliographystyle{plain}\\bibliography{vifidel-eval}\n\\end{document}\n",
        "utf-8",
    )
    latex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper"]
    for command in (latex, ["bibtex", "paper"], latex, latex):
        done = subprocess.run(
            [shutil.which(command[0]), *command[1:]],
            cwd=tmp_path, capture_output=True, text=True, errors="replace", timeout=120,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "paper.log").read_text("utf-8", "replace")
    assert "There were undefined" not in log  # no citation without an entry
    assert "Overfull" not in log
    assert "Missing character" not in log
    listed = (tmp_path / "paper.bbl").read_text("utf-8")
    assert listed.count("\\bibitem") == 4
    # Every character of the name is printed as it is, and so is the signature.
    shown = " ".join(result.output.replace("\\allowbreak{}", "").split())
    for command, character in COMMANDS.items():
        shown = shown.replace(command, character)
    assert f"{ODD}: We report CHAIR" in shown
    assert all(signature in shown for signature in scored.signatures.values())


COMMANDS = {
    r"\textbackslash{}": "\\", r"\textbar{}": "|", r"\textless{}": "<", r"\textgreater{}": ">",
    r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", "-{}-": "--",
    **{f"\\{character}": character for character in "&%$#_{}"},
}  # fmt: skip


def test_format_is_of_cite(run):
    result = run("info", "--format", "latex")
    assert result.exit_code == 2
    assert "--format applies to --cite only" in result.output
