from weft.engine.places import Place, Places


def test_an_item_has_its_place_until_it_is_taken() -> None:
    places = Places()
    item = {"a": 1}
    places.put(item, Place(7, 0))
    assert places.pop(item) == Place(7, 0)
    assert places.pop(item) is None


def test_equal_items_have_places_of_their_own() -> None:
    places = Places()
    first, second = {"a": 1}, {"a": 1}
    places.put(first, Place(7, 0))
    places.put(second, Place(7, 1))
    assert places.pop(second) == Place(7, 1)
    assert places.pop(first) == Place(7, 0)


def test_one_object_that_is_yielded_twice_has_two_places() -> None:
    places = Places()
    item = ["unhashable"]
    places.put(item, Place(7, 0))
    places.put(item, Place(7, 1))
    assert [places.pop(item) for _ in range(3)] == [Place(7, 0), Place(7, 1), None]


def test_an_item_is_kept_so_that_no_other_gets_its_id() -> None:
    places = Places()
    for number in range(100):
        places.put({"number": number}, Place(1, number))
    fresh = [{"number": number} for number in range(100)]
    assert all(places.pop(item) is None for item in fresh)
