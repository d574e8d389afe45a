"""The settings of a project are respected, or refused with a helpful message."""

from pathlib import Path
from typing import Any

from crawling import crawl, read_items, urls
from walking import Fetcher

from weft.testing import SiteServer


def test_weft_can_be_switched_off(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, Fetcher, {"WEFT_ENABLED": False}, urls=[site.url])
    assert urls(done.items) == ["/"]
    assert "Disabled weft.Addon: WEFT_ENABLED is False" in done.log
    assert not done.job_dir.exists()


def test_a_project_with_a_scheduler_of_its_own_is_refused(site: SiteServer, tmp_path: Path) -> None:
    settings = {"SCHEDULER": "scrapy.core.scheduler.Scheduler"}
    done = crawl(tmp_path, Fetcher, settings, urls=[site.url])
    assert "the project sets SCHEDULER to 'scrapy.core.scheduler.Scheduler'" in done.log
    assert "remove SCHEDULER from its settings" in done.log
    assert site.hits() == []


def test_all_wrong_settings_are_told_at_once(site: SiteServer, tmp_path: Path) -> None:
    wrong: dict[str, Any] = {
        "WEFT_ODRER": "bfs",
        "WEFT_ORDER": "backwards",
        "WEFT_MAX_PAGES": "many",
        "WEFT_STORE": "mysql://somewhere",
        "DOWNLOAD_DELAY": -1,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 0,
        "DOWNLOAD_SLOTS": {"a.example": {"delay": "slow"}},
    }
    done = crawl(tmp_path, Fetcher, wrong, urls=[site.url])
    assert "there is no setting WEFT_ODRER" in done.log
    assert "WEFT_ORDER is 'backwards'; choose one of bfs, dfs, priority, random" in done.log
    assert "WEFT_MAX_PAGES is 'many'" in done.log
    assert "WEFT_STORE: 'mysql://somewhere' is not a store" in done.log
    assert "DOWNLOAD_DELAY is -1" in done.log
    assert "CONCURRENT_REQUESTS_PER_DOMAIN must be 1 or more" in done.log
    assert "DOWNLOAD_SLOTS['a.example'] is {'delay': 'slow'}" in done.log
    assert done.reason == ""  # it never opened
    assert site.hits() == []


def test_items_go_where_weft_output_says(site: SiteServer, tmp_path: Path) -> None:
    settings = {"WEFT_SINKS": ["pages.jsonl", "pages.db"], "WEFT_STORE": "rocks://jobs/one"}
    done = crawl(tmp_path, Fetcher, settings, urls=[site.url])
    assert read_items(tmp_path / "pages.db") == done.items
    assert len((tmp_path / "pages.jsonl").read_text().splitlines()) == 1
    assert (tmp_path / "jobs/one/frontier").is_dir()
    assert not done.job_dir.exists()


def test_the_jobdir_of_a_project_is_used(site: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, Fetcher, {"JOBDIR": "job"}, urls=[site.url])
    assert read_items(tmp_path / "job/items.db") == done.items


def test_a_setting_without_effect_is_told_once_at_the_start(
    site: SiteServer, tmp_path: Path
) -> None:
    settings = {"DUPEFILTER_DEBUG": True, "SCHEDULER_PRIORITY_QUEUE": "project.queues.Own"}
    done = crawl(tmp_path, Fetcher, settings, urls=[site.url])
    assert done.reason == "finished"
    assert done.log.count("has no effect with Weft") == 2
    assert "WARNING: DUPEFILTER_DEBUG = True has no effect with Weft: duplicates are" in done.log
    assert "WARNING: SCHEDULER_PRIORITY_QUEUE = 'project.queues.Own' has no effect" in done.log
