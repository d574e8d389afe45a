"""What the add-on makes of a project's settings."""

import pytest
from scrapy.settings import Settings

from weft import Addon

REMOTE_CONTROL = "scrapy.extensions.remote_control.RemoteControl"


@pytest.mark.parametrize("is_wanted", [True, False])
def test_remote_control_is_loaded_only_if_the_project_wants_it(is_wanted: bool) -> None:
    settings = Settings({"REMOTE_CONTROL_ENABLED": True} if is_wanted else {}, "project")
    theirs = set(settings.get_component_priority_dict_with_base("EXTENSIONS"))
    Addon().update_settings(settings)
    loaded = set(settings.get_component_priority_dict_with_base("EXTENSIONS"))
    assert settings.getbool("REMOTE_CONTROL_ENABLED") is is_wanted
    assert theirs - loaded == (set() if is_wanted else {REMOTE_CONTROL})


def test_a_project_that_lists_remote_control_itself_keeps_it() -> None:
    settings = Settings({"EXTENSIONS": {REMOTE_CONTROL: 0}}, "project")
    Addon().update_settings(settings)
    assert REMOTE_CONTROL in settings.get_component_priority_dict_with_base("EXTENSIONS")
