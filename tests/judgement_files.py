"""Small data sets of human judgements in the layouts they were published in."""

import csv
import io
import json
from pathlib import Path

import numpy as np
from scipy.io import savemat

ADDRESS = "https://filebox.ece.vt.edu/~vrama91/PASCAL/"


def cell(value):
    """Return a MATLAB cell of one element."""
    box = np.empty((1, 1), dtype=object)
    box[0, 0] = value
    return box


def cells(values):
    """Return a column of MATLAB cells, as the sentences of an image stand in pascal50S.mat."""
    column = np.empty((len(values), 1), dtype=object)
    column[:, 0] = values
    return column


def structs(fields, rows):
    """Return a 1 x N struct array."""
    array = np.empty((1, len(rows)), dtype=[(field, object) for field in fields])
    for at, row in enumerate(rows):
        array[0, at] = tuple(row)
    return array


PASCAL_REFERENCES = {
    "2008_000001": ["A red bus.", "A bus on the road", " the bus is red ", "Some buses", "Bus!"],
    "2008_000002": ["Two cats sleep.", "cats on a sofa", "A pair of cats", "Sleeping cats", "Cats"],
    "2008_000003": ["One dog", "The dog runs", "A running dog", "Dog on grass", "Grass and a dog"],
}
#: Image, two captions, kind, votes: the first wins, the second, the first, nobody, the second.
PASCAL_PAIRS = [
    ("2008_000001", "a red bus", " A bus is on the road", 1, [1] * 7 + [-1] * 4),
    ("2008_000001", "the red bus", "a table", 2, [-1] * 6 + [1] * 5),
    ("2008_000002", "two cats", "A sofa and cats", 3, [1] * 6 + [-1] * 4),
    ("2008_000002", "cats", "the sofa", 4, [1] * 5 + [-1] * 5),
    ("2008_000003", "a cat", "the dog runs", 4, [-1] * 11),
]


def write_pascal(folder, pairs=PASCAL_PAIRS, references=None, **changed):
    """Write pair_pascal.mat and pascal50S.mat; `changed` are other variables of the former."""
    references = PASCAL_REFERENCES if references is None else references
    captions = [(f"{image}.jpg", first, second) for image, first, second, *_ in pairs]
    variables = {
        "new_input": structs(["name", "sent1", "sent2"], captions),
        "new_data": np.full((len(pairs), 2), 6, np.uint8),
        "category": np.array([[category for *_, category, _ in pairs]], np.uint8),
        "result": structs(["result"], [(np.array([votes], np.int16),) for *_, votes in pairs]),
    }
    savemat(folder / "pair_pascal.mat", variables | changed)
    images = [(f"{ADDRESS}{i}.jpg", cells(texts)) for i, texts in references.items()]
    savemat(folder / "pascal50S.mat", {"train_sent_final": structs(["name", "sentences"], images)})
    return folder


def write_triplets(path, pairs):
    """Write a consensus file; pairs of two captions, 48 references and 48 ratings."""
    rows = [
        (cell(cell(a)), cell(cell(b)), cell(cell(c)), np.array([[rating]], np.int16))
        for b, c, references, ratings in pairs
        for a, rating in zip(references, ratings, strict=True)
    ]
    savemat(path, {"triplets": structs(["A", "B", "C", "rating"], rows)})


SCENES = [[f"scene {scene} told by person {person}" for person in range(48)] for scene in range(2)]


def write_abstract(folder):
    """Write three pairs, two of the same scene; the third pair divides people."""
    write_triplets(
        folder / "consensus_abstract.mat",
        [
            (" scene 0 told badly ", "a duck", SCENES[0], [1] * 30 + [-1] * 18),
            ("a ball", "scene told by person", SCENES[1], [-1] * 25 + [1] * 23),
            ("scene 0", "person 0", SCENES[0], [1, -1] * 24),
        ],
    )
    return folder


FLICKR_CAPTIONS = {
    "1001_ab": ["A boy jumps .", "the boy is jumping", "A jump", "Boy in the air", "He jumps"],
    "1002_cd": ["A girl sings .", "the girl sings a song", "A song", "Girl on stage", "Sings"],
    "1003_ef": ["A man sits .", "the man is sitting", "A seat", "Man on a bench", "He sits"],
}
#: Image, caption id, three experts; two are the image's own.
FLICKR_LINES = [
    ("1001_ab.jpg", "1002_cd.jpg#1", 1, 1, 2),
    ("1001_ab.jpg", "1001_ab.jpg#2", 4, 4, 4),
    ("1002_cd.jpg", "1003_ef.jpg#0", 1, 2, 2),
    ("1002_cd.jpg", "1001_ab.jpg#4", 2, 3, 3),
    ("1003_ef.jpg", "1003_ef.jpg#1", 3, 4, 4),
    ("1003_ef.jpg", "1001_ab.jpg#3", 1, 3, 4),
    ("1003_ef.jpg", "1002_cd.jpg#0", 1, 1, 1),
]


def write_tokens(path, captions):
    """Write captions as Flickr8k.token.txt has them."""
    lines = (
        f"{image}.jpg#{number}\t{caption}\n"
        for image, of_image in captions.items()
        for number, caption in enumerate(of_image)
    )
    path.write_text("".join(lines), "utf-8")


def write_flickr8k(folder):
    write_tokens(folder / "Flickr8k.token.txt", FLICKR_CAPTIONS)
    lines = ("\t".join(map(str, line)) + "\n" for line in FLICKR_LINES)
    (folder / "ExpertAnnotations.txt").write_text("".join(lines), "utf-8")
    return folder


def write_answers(path, rows, captions):
    """Write a Composite file: rows of image address, captions, ratings, then two blank lines."""
    numbers = range(1, captions + 1)
    header = [f"Bookkeeping{n}" for n in range(27)] + ["Input.image_url"]
    header += [f"Input.text{n}" for n in numbers] + [f"Answer.Q{n}Answer" for n in numbers]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=";", lineterminator="\n")
    writer.writerow([*header, "Approve", "Reject"])
    for address, texts, ratings in rows:
        writer.writerow([*["x, y"] * 27, address, *texts, *ratings, "", ""])
    width = len(header) + 2
    path.write_text(text.getvalue() + ";" * (width - 1) + "\n" + ";;\n", "utf-8")


def write_composite(folder):
    """Write 8k with both ratings of three captions, coco with one rating of four."""
    captions = {
        "1001_ab": ["a boy jumps.", "a boy in the air .", "The scene contains  air;grass."],
        "1002_cd": ["a girl sings.", "a boy sings .", "The scene contains  a stage."],
    }
    correct = {"1001_ab": (5, 4, 2), "1002_cd": (4, 1, 3)}
    thorough = {"1001_ab": (4, 3, 1), "1002_cd": (5, 2, 2)}
    for word, ratings in (("correctness", correct), ("throughness", thorough)):
        rows = [
            (f"http://web.site/{image}.jpg", texts, ratings[image])
            for image, texts in captions.items()
        ]
        write_answers(folder / f"8k_{word}.csv", rows, 3)
    write_tokens(folder / "Flickr8k.token.txt", FLICKR_CAPTIONS)
    address = "http://web.site/COCO_val2014_000000000042.jpg"
    texts = ["a train arrives .", "a long train", "The scene contains  rails.", "dropped caption"]
    write_answers(folder / "coco_correctness.csv", [(address, texts, (5, 3, 1, 2))], 4)
    references = ["A train, arrives", "The train is here", "A train at a station"]
    document = {
        "images": [{"id": 42}],
        "annotations": [{"image_id": 42, "caption": caption} for caption in references],
    }
    (folder / "captions_val2014.json").write_text(json.dumps(document), "utf-8")
    return folder


def records(names, *rows):
    """Return a dictionary of each row, by the names of its fields."""
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


PARK = ["a park with people", "some people walk in the park"]
DISTRACTORS = records(
    "image_id kind correct distractor references",
    (1, "switch people", "a woman rides a horse", "a boy rides a horse",
     ["a rider on a brown horse", "the woman is riding", "A woman rides a horse."]),
    (2, "replace scene", "people in a park", "people in a kitchen", PARK),
    (2, "replace scene", "some walk", "some people walk somewhere", PARK),
)  # fmt: skip


def write_distractors(folder, entries=DISTRACTORS) -> Path:
    path = folder / "pairs.json"
    path.write_text(json.dumps(entries), "utf-8")
    return path


#: Image, caption id, share of yes, how many yes and no; the second is the image's own.
CROWD_LINES = [
    ("1001_ab.jpg", "1002_cd.jpg#1", "0.3333333333333333", 1, 2),
    ("1001_ab.jpg", "1001_ab.jpg#2", "1", 3, 0),
    ("1003_ef.jpg", "1001_ab.jpg#3", "0", 0, 3),
    ("1002_cd.jpg", "1003_ef.jpg#0", "0.6666666666666666", 2, 1),
]


def write_crowd(folder):
    """Write the crowd's judgements beside the experts'."""
    lines = ("\t".join(map(str, line)) + "\n" for line in CROWD_LINES)
    (folder / "CrowdFlowerAnnotations.txt").write_text("".join(lines), "utf-8")
    return folder


FOILS = records(
    "image_path baseline foil replacement domain references",
    ("00a1.jpg", "The dog runs on grass", "The cat runs on grass", ["dog", "cat"], "in-domain",
     ["A dog runs over the grass.", "a dog on grass", "The dog runs on grass."]),
    ("00b2.jpg", "A man at a table", "A traffic light at a table, and a light.",
     ["man", "traffic light"], "near-domain",
     ["A man eats a hot dog at a table.", "A man with food at the table."]),
    ("00c3.jpg", "zebras beside water", "pianos beside water", ["zebras", "pianos"], "out-domain",
     ["Two zebras drink water.", "Zebras beside a lake"]),
)  # fmt: skip


def hat(image, references, marked):
    """Return a caption of HAT, in which words that are not there have a star."""
    grounding = [[word.strip("*"), word[0] == "*"] for word in marked.split()]
    caption = marked.replace("*", "")
    wrong = "*" in marked
    names = "image_path references caption grounding contains_hallucination"
    (record,) = records(names, (f"{image}.jpg", references, caption, grounding, wrong))
    return record


GRASS = ["A dog runs over the grass.", "a dog on grass"]
HAT = [
    hat("COCO_val2014_000000000042", GRASS, "A dog *sleeping on grass."),
    hat("COCO_val2014_000000000042", GRASS, "A dog running"),
    hat(
        "COCO_val2014_000000000139",
        ["A man eats a hot dog.", "A man with food."],
        "A man *rides *a *horse",
    ),
]


def write_foils(folder, entries=FOILS) -> Path:
    path = folder / "nocaps-val-foil.json"
    path.write_text(json.dumps(entries), "utf-8")
    return path


def write_hat(folder, entries=HAT) -> Path:
    path = folder / "hat.json"
    path.write_text(json.dumps(entries), "utf-8")
    return path


THUMB_REFERENCES = {
    "42": ["A dog runs over the grass.", "a dog on grass", "The dog runs."],
    "139": ["A man eats a hot dog.", "A man with food."],
}
#: System, image, caption, P, R, total; people's first caption is a reference too.
THUMB_ROWS = [
    ("Up-Down", "42", "A cat on grass", 2.0, 3.0, 2.5),
    ("VinVL-base", "42", "A dog on the grass", 5.0, 4.0, 4.5),
    ("Human", "42", "the dog runs", 5.0, 5.0, 5.0),
    ("Up-Down", "139", "A man in a room", 4.0, 2.0, 3.0),
    ("VinVL-base", "139", "A woman eats", 3.0, 3.0, 2.9),
    ("Human", "139", "A man eating a sausage", 5.0, 4.0, 4.5),
]


def thumb_entries():
    """Return the rated captions as THumB's file has them."""
    return [
        {"SYS": system, "seg_id": image, "hyp": caption, "P": p, "R": r, "Fl": -0.0, "Inc": -0.0,
         "image": f"COCO_val2014_{int(image):012}.jpg", "human_score": total}
        for system, image, caption, p, r, total in THUMB_ROWS
    ]  # fmt: skip


def write_thumb(folder, entries=None, references=None):
    """Write THumB's two files of JSON lines."""
    entries = thumb_entries() if entries is None else entries
    if references is None:
        references = [{"seg_id": i, "refs": refs} for i, refs in THUMB_REFERENCES.items()]
    for name, rows in (("mscoco_THumB-1.0.jsonl", entries), ("mscoco_references.json", references)):
        (folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return folder


WRITERS = {
    "abstract50s": write_abstract,
    "composite": write_composite,
    "distractors": write_distractors,
    "flickr8k": write_flickr8k,
    "hat": write_hat,
    "nocaps-foil": write_foils,
    "pascal50s": write_pascal,
    "thumb": write_thumb,
}
