"""Garbage is let be while modules are loaded."""

import gc

import pytest

from weft.garbage import not_collected


@pytest.mark.parametrize("was_enabled", [True, False])
def test_it_goes_on_as_before(was_enabled: bool) -> None:
    (gc.enable if was_enabled else gc.disable)()
    try:
        with not_collected():
            assert not gc.isenabled()
            kept: list[object] = []
        assert gc.isenabled() is was_enabled
        assert not any(each is kept for each in gc.get_objects())
    finally:
        gc.unfreeze()
        gc.enable()
