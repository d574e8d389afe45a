from weft.engine.requests.positions import Position, Positions


def test_an_item_has_its_place_until_it_is_taken() -> None:
    places = Positions()
    item = {"a": 1}
    places.put(item, Position(7, 0))
    assert places.pop(item) == Position(7, 0)
    assert places.pop(item) is None


def test_equal_items_have_places_of_their_own() -> None:
    places = Positions()
    first, second = {"a": 1}, {"a": 1}
    places.put(first, Position(7, 0))
    places.put(second, Position(7, 1))
    assert places.pop(second) == Position(7, 1)
    assert places.pop(first) == Position(7, 0)


def test_one_object_that_is_yielded_twice_has_two_places() -> None:
    places = Positions()
    item = ["unhashable"]
    places.put(item, Position(7, 0))
    places.put(item, Position(7, 1))
    assert [places.pop(item) for _ in range(3)] == [Position(7, 0), Position(7, 1), None]


def test_an_item_is_kept_so_that_no_other_gets_its_id() -> None:
    places = Positions()
    for number in range(100):
        places.put({"number": number}, Position(1, number))
    fresh = [{"number": number} for number in range(100)]
    assert all(places.pop(item) is None for item in fresh)
