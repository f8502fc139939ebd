import pytest

from vifidel_eval.annotations import read_objects
from vifidel_eval.errors import AnnotationError

LIVING_ROOM = """\
<annotation>
	<filename>2008_000123.jpg</filename>
	<source><database>The VOC2008 Database</database></source>
	<owner><name>a photographer</name></owner>
	<object>
		<name>person</name>
		<part><name>head</name></part>
		<part><name>hand</name></part>
	</object>
	<object><name>diningtable</name><difficult>1</difficult></object>
	<object><name>pottedplant</name></object>
	<object><name>pottedplant</name></object>
	<object><name>tvmonitor</name></object>
</annotation>
"""


def test_objects_count_and_their_parts_do_not(write):
    objects = read_objects(write(LIVING_ROOM, "2008_000123.xml"))
    assert objects == {
        "2008_000123": {"person": 1, "dining table": 1, "potted plant": 2, "tv monitor": 1}
    }
    assert objects.kind == "voc"
    assert objects.threshold is None


@pytest.mark.parametrize(
    ("filename", "image_id"),
    [
        ("<filename>beach.png</filename>", "beach"),
        ("<filename> </filename>", "img_7"),
        ("", "img_7"),
    ],
)
def test_image_id_is_the_filename_or_else_the_files_own_name(filename, image_id, write):
    text = f"<annotation>{filename}<object><name>dog</name></object></annotation>"
    assert read_objects(write(text, "img_7.xml")) == {image_id: {"dog": 1}}


def test_encoding_declared_in_the_file(tmp_path):
    path = tmp_path / "cafe.xml"
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><annotation><object><name>caf\xe9</name>'
    path.write_bytes((text + "</object></annotation>").encode("latin-1"))
    assert read_objects(path) == {"cafe": {"caf\xe9": 1}}


def test_two_files_of_one_image(write):
    folder, _ = (write(LIVING_ROOM, name).parent for name in ("a.xml", "b.xml"))
    with pytest.raises(AnnotationError, match=r"b\.xml and .*a\.xml both .* image '2008_000123'"):
        read_objects(folder)


def test_a_file_name_that_is_a_number_is_an_id_as_a_number(write):
    path = write(LIVING_ROOM.replace("2008_000123", "42"), "a.xml")
    assert list(read_objects(path)) == [42]
