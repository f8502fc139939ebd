"""CLIPScore against a few lines of transformers, on a tiny CLIP with random weights."""

import json
import re
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from conftest import call, done, refused

torch = pytest.importorskip("torch", reason="needs PyTorch")
transformers = pytest.importorskip("transformers", reason="needs transformers")
pytestmark = pytest.mark.pytorch

import tiny_clip  # noqa: E402
from PIL import Image  # noqa: E402

from vifidel_eval import VifidelError, VifidelWarning  # noqa: E402
from vifidel_eval.captions.rows import coco_rows  # noqa: E402
from vifidel_eval.io.caches import clear_cache  # noqa: E402
from vifidel_eval.plugins.networks import clipscore as module  # noqa: E402
from vifidel_eval.scorers import CLIPScore  # noqa: E402

W = tiny_clip.WORDS
RES = {i: [f"a {W[i]} and {W[-i]} " + "dog " * (i % 4)] for i in range(1, 11)}
GTS = {i: ["a dog catches a ball", f"the cat {W[i]}", "red grass"][: i % 4] for i in RES}
LONG = "a dog " * tiny_clip.LONGEST


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clipscore")
    tiny_clip.clip(folder / "clip")
    tiny_clip.pictures(folder / "pictures")
    lines = [{"image_id": i, "caption": text} for i, (text,) in RES.items()]
    (folder / "mine.json").write_text(json.dumps(lines))
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("VIFIDEL_EVAL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def make(folder):
    def make(images=folder / "pictures", **more):
        return CLIPScore(folder / "clip", images, **more)

    return make


def oracle(folder, gts, res, weight=2.5):
    """Return CLIPScore and RefCLIPScore of each image by transformers alone."""
    model = transformers.CLIPModel.from_pretrained(folder / "clip").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "clip")
    images = transformers.AutoImageProcessor.from_pretrained(folder / "clip", backend="pil")

    def of_text(text):
        tokens = tokenizer(f"A photo depicts {text}", truncation=True, return_tensors="pt")
        return model.get_text_features(**tokens).pooler_output[0]

    scores = []
    with torch.inference_mode():
        for image_id, (caption,) in res.items():
            picture = Image.open(folder / f"pictures/{image_id}.png").convert("RGB")
            pixels = images(picture, return_tensors="pt")
            seen = model.get_image_features(**pixels).pooler_output[0]
            cosine = torch.nn.functional.cosine_similarity
            own = of_text(caption)
            score = weight * max(cosine(own, seen, dim=0).item(), 0)
            near = [cosine(own, of_text(r), dim=0).item() for r in gts[image_id]]
            both = 2 / (1 / score + 1 / max(near)) if near and score and max(near) > 0 else 0
            scores.append((score, both if near else np.nan))
    return np.array(scores).T


def columns_of(scorer, gts=GTS, res=RES):
    return [column.scores for column in scorer.evaluate(coco_rows(gts, res), signed=False).values()]


@pytest.mark.parametrize("weight", [2.5, 2])
def test_scores_are_those_of_transformers(folder, make, weight, monkeypatch, capsys):
    message = transformers.logging
    message.set_verbosity_warning()  # what transformers says is as before
    message.enable_progress_bar()
    scorer = make(weight=weight)
    assert capsys.readouterr().err == ""
    assert (message.get_verbosity(), message.is_progress_bar_enabled()) == (message.WARNING, True)
    expected = oracle(folder, GTS, RES, weight)
    np.testing.assert_allclose(columns_of(scorer), expected, atol=1e-5)
    assert np.isfinite(expected[0]).all()
    assert np.unique(expected[0].round(3)).size > 6
    assert np.isnan(expected[1]).sum() == sum(not of for of in GTS.values())
    monkeypatch.setattr(module._Clip, "vectors", None)  # those of pictures and texts are kept
    score, scores = scorer.compute_score(GTS, RES)
    assert score == pytest.approx(expected[0].mean(), abs=1e-5)
    np.testing.assert_array_equal(scores, columns_of(scorer)[0])
    assert f"|prefix:A photo depicts|weight:{weight}|pictures:10#" in scorer.signature()


def test_a_score_does_not_depend_on_what_is_scored_beside_it(make, monkeypatch):
    together = columns_of(make())
    one_by_one = make()
    for at, image_id in enumerate(RES):
        clear_cache()
        alone = columns_of(one_by_one, {image_id: GTS[image_id]}, {image_id: RES[image_id]})
        np.testing.assert_array_equal(np.array(alone)[:, 0], np.array(together)[:, at])
    clear_cache()
    monkeypatch.setattr(module, "_ROWS_AT_ONCE", 3)
    back = {image_id: RES[image_id] for image_id in reversed(RES)}
    in_reverse = columns_of(make(), {i: GTS[i] for i in back}, back)
    np.testing.assert_array_equal(np.array(in_reverse)[:, ::-1], together)
    clear_cache()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        np.testing.assert_allclose(columns_of(make()), together, atol=1e-6)
    finally:
        torch.set_num_threads(threads)


def test_pictures_are_kept_by_content(folder, make, cache, tmp_path, monkeypatch):
    expected = columns_of(make())
    seen, vectors = [], module._Clip.vectors

    def spied(clip, kind, some):
        seen.extend(some if kind == "image" else [])
        return vectors(clip, kind, some)

    monkeypatch.setattr(module._Clip, "vectors", spied)

    def counted(scorer):
        seen.clear()
        np.testing.assert_array_equal(columns_of(scorer), expected)
        return len(seen)

    renamed = shutil.copytree(folder / "pictures", tmp_path / "renamed")
    assert counted(make(renamed)) == 0
    (database,) = cache.iterdir()
    with sqlite3.connect(database) as opened:
        opened.execute("UPDATE vectors SET vector = zeroblob(96) WHERE rowid = 1")
        opened.execute("UPDATE vectors SET vector = x'00' WHERE rowid = 2")
    assert counted(make()) == 2
    assert counted(make()) == 0
    database.write_bytes(b"no database" * 999)
    assert counted(make()) == 10
    assert clear_cache()[0] > 0
    assert not list(cache.iterdir())
    assert counted(make()) == 10
    Image.new("RGB", (40, 40), "green").save(renamed / "1.png")
    changed = make(renamed)
    assert columns_of(changed)[0][0] != expected[0][0]
    assert changed.signature() != make().signature(list(RES))
    tiny_clip.clip(tmp_path / "other", seed=1)
    other = CLIPScore(tmp_path / "other", folder / "pictures")
    assert (columns_of(other)[0] != expected[0]).sum() > 5
    assert len(list(cache.iterdir())) == 2


def test_captions_over_the_length_are_cut_counted_and_said(folder, make):
    whole = "dog " * (tiny_clip.LONGEST - 5)  # behind "A photo depicts", between start and end
    res = RES | {1: [LONG], 2: [LONG + "cat"], 4: [whole]}
    gts = GTS | {3: [LONG, "a dog"]}
    scorer = make()
    with pytest.warns(VifidelWarning) as heard:
        columns = scorer.evaluate(coco_rows(gts, res))
    assert [str(one.message).partition(", such")[0] for one in heard] == [
        "2 captions have more than the 16 tokens that clip reads",
        "1 references have more than the 16 tokens that clip reads",
    ]
    assert columns["CLIPScore"].counts["truncated"] == 2
    expected = oracle(folder, gts, res)
    np.testing.assert_allclose([column.scores for column in columns.values()], expected, atol=1e-5)


def test_pictures_that_cannot_be_read_have_no_score(folder, make, tmp_path):
    pictures = shutil.copytree(folder / "pictures", tmp_path / "pictures")
    (pictures / "2.png").write_bytes(b"no picture")
    (pictures / "3.png").write_bytes((pictures / "3.png").read_bytes()[:200])
    (pictures / "5.png").unlink()
    message = r"^3 of 10 images have no readable picture, such as 2 \(not a picture\); CLIPS"
    scorer = make(pictures)
    with pytest.warns(VifidelWarning, match=message):
        scores = columns_of(scorer)
    assert [i for i, s in zip(RES, scores[0], strict=True) if np.isnan(s)] == [2, 3, 5]
    whole = columns_of(make())
    kept = ~np.isnan(scores[0])
    np.testing.assert_array_equal(np.array(scores)[:, kept], np.array(whole)[:, kept])
    np.testing.assert_array_equal(columns_of(scorer)[0], scores[0])  # and it is said once
    for picture in pictures.iterdir():
        picture.write_bytes(b"no picture")
    with pytest.raises(VifidelError, match=r"^10 of 10 images have no readable .* the images\?$"):
        make(pictures).compute_score(GTS, RES)
    with pytest.raises(VifidelError, match=r"1 of 1 images have .* 'x' \(there is none\)"):
        make({"y": pictures / "1.png"}).compute_score({"x": []}, {"x": ["a dog"]})
    with pytest.raises(VifidelError, match="no-such-folder: no such file or directory"):
        make(tmp_path / "no-such-folder").compute_score(GTS, RES)


def test_the_command(folder, tmp_path):
    references = {"images": [], "annotations": []}
    pictures = tmp_path / "named"
    pictures.mkdir()
    for number in RES:  # COCO's file says what pictures are called
        shutil.copy(folder / f"pictures/{number}.png", pictures / f"beach-{number * 7}.png")
        references["images"].append({"id": number, "file_name": f"beach-{number * 7}.png"})
        references["annotations"].append({"image_id": number, "caption": "a red ball"})
    (tmp_path / "coco.json").write_text(json.dumps(references))
    result = done(
        "score", folder / "mine.json", "--metrics", "CLIPScore", "--images", pictures,
        "--references", tmp_path / "coco.json", "--clip-model", folder / "clip",
        "--clip-weight", "2", "--format", "json", "--output", tmp_path / "scores.json",
    )  # fmt: skip
    gts = {i: ["a red ball"] for i in RES}
    expected = oracle(folder, gts, RES, 2).mean(axis=1)
    overall = json.loads(result.stdout)["systems"]["mine"]["overall"]
    assert [overall[c] for c in ("CLIPScore", "RefCLIPScore")] == pytest.approx(expected, abs=1e-5)
    cited = done("info", "--cite", tmp_path / "scores.json")
    assert "CLIPScore (Hessel et al., 2021)" in " ".join(cited.stdout.split())
    assert "@inproceedings{hessel-etal-2021-clipscore," in cited.stdout


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), "CLIPScore needs --images and --clip-model; give them, or name other metrics."),
        (("--images", "{pictures}", "--clip-model", "owner/model"),
         "owner/model: no such folder, and no such model in "),
        (("--images", "{pictures}", "--clip-model", "{pictures}"),
         "pictures: there is no config.json in this folder"),
        (("--images", "{pictures}", "--clip-model", "{clip}", "--clip-weight", "nan"),
         "weight must be a number above 0, not nan."),
        (("--images", "{mine}", "--clip-model", "{clip}"),
         "mine.json: not a directory; name a folder of images."),
    ],
)  # fmt: skip
def test_what_is_missing_or_wrong_is_one_sentence(folder, monkeypatch, options, expected):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    paths = {"clip": folder / "clip", "pictures": folder / "pictures", "mine": folder / "mine.json"}
    options = [option.format(**paths) for option in options]
    result = call("score", folder / "mine.json", "--metrics", "CLIPScore", *options)
    refused(result, expected, status=1 + (not options))


def test_models_that_cannot_be_used(folder, make, tmp_path):
    def check(said, model):
        with pytest.raises(VifidelError, match=said):
            CLIPScore(model, folder / "pictures").compute_score(GTS, RES)

    other = shutil.copytree(folder / "clip", tmp_path / "other")
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps({**config, "model_type": "siglip"}))
    check("a model of type 'siglip' is not a CLIP; name one, such", other)
    larger = tiny_clip.clip(tmp_path / "larger", image_size=64)
    check("the image encoder of this model fails", larger)

    from safetensors.numpy import load_file, save_file

    state = load_file(folder / "clip/model.safetensors")

    def with_weights(name, weights):
        place = shutil.copytree(folder / "clip", tmp_path / name)
        save_file(weights, place / "model.safetensors", {"format": "pt"})
        return place

    undefined = {name: np.asarray(weight * np.nan) for name, weight in state.items()}
    check("its vectors are not numbers", with_weights("nan", undefined))
    name = "text_model.embeddings.token_embedding.weight"
    cut = with_weights("cut", {**state, name: state[name][:5]})
    check("cut: its model cannot be loaded", cut)
    more = "text_model.encoder.layers.2.mlp.fc1.bias"
    said = rf"more: config.json has no place for 1 of the weights, such as {more}"
    check(said, with_weights("more", {**state, more: state[name][0]}))
    # Of older versions: positions are counted, not learnt.
    positions = {**state, "text_model.embeddings.position_ids": np.arange(16)[None]}
    CLIPScore(with_weights("older", positions), "x")


def test_a_tokenizer_that_is_missing_or_of_another_model(folder, tmp_path):
    def check(said, name, change):
        place = shutil.copytree(folder / "clip", tmp_path / "changed", dirs_exist_ok=True)
        content = json.loads((place / name).read_text())
        change(content)
        (place / name).write_text(json.dumps(content))
        with pytest.raises(VifidelError, match=said):
            CLIPScore(place, folder / "pictures")
        return place

    said = r"texts end with token \d+ for its tokenizer, and with 5 in config.json"
    check(said, "config.json", lambda config: config["text_config"].update(eos_token_id=5))

    def larger(content):
        content["model"]["vocab"]["further"] = len(content["model"]["vocab"])

    place = check(r"its tokenizer has \d+ tokens, and the model", "tokenizer.json", larger)
    (place / "tokenizer.json").unlink()
    with pytest.raises(VifidelError, match=r"there is no tokenizer in this folder \(tokenizer_con"):
        CLIPScore(place, folder / "pictures")


def test_a_lone_surrogate_is_read_as_unknown(make, folder):
    scorer = make()
    scores = scorer.compute_score({1: ["a dog"]}, {1: ["a dog \ud800"]})
    assert np.isfinite(scores[0]).all()


def test_the_page(folder, tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parents[3] / "docs/metrics.md").read_text("utf-8")
    section = page.partition("## CLIPScore\n")[2].partition("\n## ")[0]
    (shell, python) = re.findall(r"```(?:sh|python)\n(.*?)```", section, re.DOTALL)
    shutil.copytree(folder / "clip", tmp_path / "openai/clip-vit-base-patch32")
    shutil.copytree(folder / "pictures", tmp_path / "photos")
    shutil.copy(folder / "mine.json", tmp_path)
    references = {i: ["a dog on the grass", "a red ball"] for i in RES}
    (tmp_path / "references.json").write_text(json.dumps(references))
    monkeypatch.chdir(tmp_path)
    command = shell.replace("\\\n", " ").splitlines()[1].split()
    printed = done(*command[1:], "--format", "json").stdout
    overall = json.loads(printed)["systems"]["mine"]["overall"]
    names = {}
    exec(compile(python, "metrics.md", "exec"), names)
    assert float(capsys.readouterr().out) == pytest.approx(overall["RefCLIPScore"], abs=1e-9)
    assert names["scores"][0] == names["columns"]["CLIPScore"][0]
