import pytest

from vifidel_eval.annotations import Box, ImageBoxes, read_boxes

COCO = {
    "images": [{"id": 1, "width": 100, "height": 50}, {"id": 2}],
    "categories": [{"id": 7, "name": "Hot_dog"}],
    "annotations": [
        {"image_id": 1, "category_id": 7, "bbox": [10, 5, 20, 10]},
        {"image_id": 1, "category_id": 7, "bbox": [0, 0, 0, 10]},
        {"image_id": 1, "category_id": 7},
        {"image_id": 2, "category_id": 7, "bbox": [1, 2, 3, 4]},
        {"image_id": 2, "category_id": 7, "bbox": [1, "2", 3, 4]},
    ],
}
VOC = """<annotation><filename>2007_1.jpg</filename>
<size><width>500</width><height>300</height></size>
<object><name>tvmonitor</name><bndbox><xmin>1</xmin><ymin>11</ymin><xmax>500</xmax><ymax>300</ymax>
</bndbox><part><name>head</name><bndbox><xmin>5</xmin></bndbox></part></object>
<object><name>dog</name></object></annotation>"""
OPEN_IMAGES = """ImageID,LabelName,Confidence,XMin,XMax,YMin,YMax
a,/m/0bt9lr,1,0.25,0.75,0.5,1
a,/m/0bt9lr,0.2,0,1,0,1
"""


def test_coco_instances(write):
    result = read_boxes(write(COCO, "i.json"))
    assert result[1].boxes == [Box("hot dog", 10, 5, 20, 10)]  # the others have none
    assert result[1].size == (100, 50)
    assert result[2].boxes == [Box("hot dog", 1, 2, 3, 4)]
    assert result[2].size is None


def test_coco_results_above_the_threshold(write):
    results = [
        {"image_id": 5, "category_id": 18, "bbox": [1, 2, 3, 4], "score": score}
        for score in (0.9, 0.5)
    ]
    path = write(results, "r.json")
    assert read_boxes(path)[5].boxes == [Box("dog", 1, 2, 3, 4, 0.9)]
    assert len(read_boxes(path, threshold=0.5)[5].boxes) == 2
    assert read_boxes(path, categories={18: "cat"})[5].boxes[0].label == "cat"


@pytest.mark.parametrize("folder", [True, False])
def test_voc_counts_pixels_from_one(write, tmp_path, folder):
    path = write(VOC, "x.xml")
    result = read_boxes(tmp_path if folder else path)
    assert result["2007_1"].boxes == [Box("tv monitor", 0, 10, 500, 290)]
    assert result["2007_1"].size == (500, 300)


def test_open_images_are_shares_of_the_image(write):
    path = write(OPEN_IMAGES, "boxes.csv")
    result = read_boxes(path, categories={"/m/0bt9lr": "Dog"})
    assert result["a"].boxes == [Box("dog", 0.25, 0.5, 0.5, 0.5)]
    assert result["a"].size == (1, 1)


def test_detections_by_image_and_by_file(write):
    detections = [
        {"label": "dog", "score": 0.9, "box": {"xmin": 1, "ymin": 2, "xmax": 11, "ymax": 22}},
        {"name": "cat", "confidence": 0.8, "box": {"x1": 0, "y1": 0, "x2": 5, "y2": 5}},
        {"label": "dog", "score": 0.1, "box": {"xmin": 1, "ymin": 2, "xmax": 11, "ymax": 22}},
        ["dog", 0.9],
    ]
    expected = [Box("dog", 1, 2, 10, 20, 0.9), Box("cat", 0, 0, 5, 5, 0.8)]
    assert read_boxes(write({"7": detections}, "d.json"))[7].boxes == expected
    folder = write(detections, "folder/7.json").parent
    assert read_boxes(folder)[7].boxes == expected


def test_visual_genome(write):
    things = [
        {"names": ["Trees", "tree"], "x": 1, "y": 2, "w": 30, "h": 40},
        {"names": ["clock"], "x": 1, "y": 2, "w": 0, "h": 40},
    ]
    path = write([{"image_id": 3, "objects": things}], "objects.json")
    assert read_boxes(path)[3].boxes == [Box("trees", 1, 2, 30, 40)]


def test_yolo_is_shares_of_the_image(write, tmp_path):
    # centre x, centre y, width, height, confidence; then a triangle
    write("1 .5 .25 .5 .5 .9\n1 .5 .5 .5 .5 .1\n0 .25 .5 .75 .25 .5 1.0\n", "42.txt")
    write("cat\ndog", "classes.txt")
    result = read_boxes(tmp_path)
    assert result[42].boxes == [
        Box("dog", 0.25, 0, 0.5, 0.5, 0.9),
        Box("cat", 0.25, 0.25, 0.5, 0.75),
    ]
    assert result[42].size == (1, 1)


@pytest.mark.parametrize("key", ["boxes", "bboxes"])
def test_parallel_arrays(write, key):
    arrays = {"labels": [0, 1, 0], "scores": [0.9, 0.8, 0.1], key: [[1, 2, 31, 42]] * 3}
    path = write({"7": arrays}, "a.json")
    result = read_boxes(path, categories={0: "cat", 1: "dog"})
    assert result[7].boxes == [Box("cat", 1, 2, 30, 40, 0.9), Box("dog", 1, 2, 30, 40, 0.8)]


def test_boxes_get_the_ids_of_nocaps(write):
    nocaps = {"images": [{"id": 0, "open_images_id": "a"}, {"id": 1, "open_images_id": "b"}]}
    paths = [write(nocaps, "n.json"), write(OPEN_IMAGES, "boxes.csv")]
    for sources in (paths, paths[::-1]):
        result = read_boxes(sources, categories={"/m/0bt9lr": "Dog"})
        assert result == {0: ImageBoxes([Box("dog", 0.25, 0.5, 0.5, 0.5)], (1, 1))}


def test_panoptic_segments(write):
    segments = [
        {"id": 1, "category_id": 7, "bbox": [10, 5, 20, 10]},
        {"id": 2, "category_id": 9, "bbox": [0, 0, 100, 20]},
        {"id": 3, "category_id": 7},
    ]
    panoptic = {
        **COCO,
        "categories": [{"id": 7, "name": "dog"}, {"id": 9, "name": "sky-other-merged"}],
        "annotations": [{"image_id": 1, "segments_info": segments}],
    }
    result = read_boxes(write(panoptic, "p.json"))
    assert result[1].boxes == [Box("dog", 10, 5, 20, 10), Box("sky", 0, 0, 100, 20)]
    assert result[1].size == (100, 50)
