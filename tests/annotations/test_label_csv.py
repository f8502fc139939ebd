import numpy as np
import pytest

from vifidel_eval import Vifidel
from vifidel_eval.annotations import read_objects
from vifidel_eval.errors import AnnotationError


@pytest.mark.parametrize(
    ("text", "labels", "threshold"),
    [
        ("image_id,label\n42,dog\n42,dog\n73,\n", {42: {"dog": 2}, 73: {}}, None),
        # TensorFlow's object detection tutorials and Roboflow
        (
            "filename,width,height,class,xmin,ymin,xmax,ymax\n"
            "val2017/000000000042.jpg,640,478,Hot dog,1,2,3,4\n\nb.jpg,640,478,cat,1,2,3,4\n",
            {"val2017/000000000042.jpg": {"hot dog": 1}, "b.jpg": {"cat": 1}},
            None,
        ),
        ("image,label,score\na,dog,0.6\na,cat,.59\nb,cat,1e-3\n", {"a": {"dog": 1}, "b": {}}, 0.6),
        ("Image ID;Class Name;Count\n1;dog;3\n1;cat;0\n", {1: {"dog": 3}}, None),
        ("file\tobject\tconfidence\na.jpg\tpotted plant, large\t.9\n",
         {"a.jpg": {"potted plant": 1, "large": 1}}, 0.6),
        ('image,label\n"a, b.jpg","fire hydrant"\n', {"a, b.jpg": {"fire hydrant": 1}}, None),
        ("id,image_id,class,class_name\n5,7,17,dog\n", {7: {"dog": 1}}, None),
        # DataFrame.to_csv of a column of lists
        ("image_id,labels\n1,\"['dog', 'dog', 'sofa']\"\n2,[]\n",
         {1: {"dog": 2, "sofa": 1}, 2: {}}, None),
    ],
)  # fmt: skip
def test_columns(text, labels, threshold, write):
    objects = read_objects(write(text, "objects.csv"))
    assert objects == labels
    assert (objects.kind, objects.threshold) == ("label-csv", threshold)
    assert not objects.lists_every_image


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_data_frame_is_read_as_its_csv_would_be(kind):
    library = pytest.importorskip(kind)
    columns = {"image_id": [1, 1, 2], "label": ["dog", "cat", None], "score": [0.9, 0.1, 0.8]}
    assert read_objects(library.DataFrame(columns)) == {1: {"dog": 1}, 2: {}}
    lists = library.DataFrame({"image_id": [1, 2], "labels": [["dog", "dog"], []]})
    assert read_objects(lists) == {1: {"dog": 2}, 2: {}}
    # A row of polars has a series of labels.
    scores = Vifidel().score(["a dog", "a dog"], objects=lists["labels"])
    np.testing.assert_array_equal(scores, [1, np.nan])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("image,label\na,dog\nb\n", "line 3 has 1 fields but the header has 2"),
        ("image,label\na,dog,cat\n", "line 2 has 3 fields"),
        ('image,label\na,"dog\nb,cat\n', "line 2 is not CSV"),
        ("image,label\n,dog\n", "line 2: 'image' is empty"),
        ("image,label\na,['dog' 'cat']\n",
         "line 2 (image 'a'): \"['dog' 'cat']\" looks like a list and cannot"),
        ("image,label\na,[17]\n", "line 2 (image 'a'): item 0: found 17; expected a label"),
        ("image,label\na,17\n",
         "line 2 (image 'a'): the label is '17'; write the name of the class"),
        ("image,label,score\na,dog,\n", "line 2 (image 'a'): score '' is not a number"),
        ("image,label,score\na,dog,nan\n", "line 2 (image 'a'): score 'nan' is not a number"),
        ("image,label,score\na,dog,90\n", "line 2 (image 'a'): score 90 is above 1"),
        ("image,label,count\na,dog,1.5\n", "line 2 (image 'a'): count '1.5' is not a whole number"),
        ("image,label,count\na,dog,-1\n", "line 2 (image 'a'): count is negative"),
        (f"image,label,count\na,dog,{2**60}\n", "above 2**53"),
        ("image,label,Label\na,dog,cat\n", "line 1 names the column 'label' twice"),
        ("image,caption\na,A dog.\n", "a table without a column of labels ('image', 'caption')"),
        ("a,dog\nb,cat\n", "not a source of objects"),
    ],
)  # fmt: skip
def test_broken(text, message, write):
    path = write(text, "objects.csv")
    with pytest.raises(AnnotationError) as problem:
        read_objects(path)
    assert str(problem.value).startswith(f"{path}: ")
    assert message in str(problem.value)
