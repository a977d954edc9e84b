"""The drawings of the architecture are those of the imports."""

import pytest

from docs import rooms


def test_the_drawings_are_those_of_the_imports(request):
    page = rooms.PAGE.read_text(encoding="utf-8")
    if request.config.getoption("update_golden"):
        rooms.PAGE.write_text(rooms.drawn(page), encoding="utf-8")
        return
    assert rooms.drawn(page) == page, "the imports have changed: python -m docs.rooms"


def test_every_room_of_passes_is_in_its_table():
    page = rooms.PAGE.read_text(encoding="utf-8")
    found = {rooms.inside("affdsl.passes")(module) for module, _ in rooms.imports()} - {"", "__init__"}
    assert {room for room in found if f"`{room}`" not in page} == set()


def test_an_import_that_follows_from_others_is_left_out():
    assert "advice --> legality" not in rooms.drawing(rooms.inside("affdsl.passes"))
    assert "    advice --> transforms" in rooms.drawing(rooms.inside("affdsl.passes"))


def test_a_page_without_a_place_for_a_drawing_is_an_error():
    with pytest.raises(ValueError, match="0 places for the drawing of floors"):
        rooms.drawn("")
