"""`weft crawl` on a job that is finished: it says so, and what is wrong with its options."""

from collections.abc import Iterator

import pytest

from running import Weft
from weft.testing import Site, SiteServer


@pytest.fixture
def site(weft: Weft) -> Iterator[SiteServer]:
    """It was crawled into `a.jsonl`; nothing more may be fetched."""
    with SiteServer(Site(pages=3)) as server:
        done = weft("crawl", server.url, "-o", "a.jsonl", "--job", "shop")
        assert done.returncode == 0, done.stderr
        server.forget()
        yield server
        assert server.hits() == []


def told(weft: Weft, site: SiteServer, *options: str) -> tuple[int, str]:
    ended = weft("crawl", site.url, "--job", "shop", *options)
    assert "Traceback" not in ended.stderr
    return ended.returncode, " ".join((ended.stdout + ended.stderr).split())


@pytest.mark.parametrize("options", [(), ("-o", "a.jsonl"), ("-o", "./a.jsonl")])
def test_it_says_that_there_is_nothing_to_do_and_where_the_items_are(
    weft: Weft, site: SiteServer, options: tuple[str, ...]
) -> None:
    code, text = told(weft, site, *options)
    assert code == 0
    assert text.startswith("Nothing to do: this crawl is finished.")
    assert text.endswith(f"Items are in {weft.directory}/a.jsonl")


@pytest.mark.parametrize(
    "options",
    [("-o", "b.jsonl"), ("-o", "a.jsonl", "-o", "b.jsonl"), ("-o", "warc://b.jsonl")],
)
def test_a_new_output_would_stay_empty(
    weft: Weft, site: SiteServer, options: tuple[str, ...]
) -> None:
    code, text = told(weft, site, *options)
    assert code == 1
    assert f"this crawl is finished, and its items are in {weft.directory}/a.jsonl" in text
    assert f"{weft.directory}/b.jsonl. Read them back with `weft items --job shop`" in text
    assert not (weft.directory / "b.jsonl").exists()


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("oracle://me:hush@host/db/table", "items cannot go to 'oracle://***@host/db/table'"),
        ("pages.xyz", "items cannot go to 'pages.xyz'"),
        ("mysql://host/db", "it does not name a database and a table"),
    ],
)
def test_a_wrong_output_is_told(weft: Weft, site: SiteServer, output: str, why: str) -> None:
    code, text = told(weft, site, "-o", output)
    assert code == 1
    assert why in text


def test_a_job_of_several_workers_does_the_same(weft: Weft) -> None:
    with SiteServer(Site(pages=3)) as server:
        command = ("crawl", server.url, "--job", "crew", "--workers", "2")
        assert weft(*command, "-o", "a.jsonl").returncode == 0
        server.forget()
        again = weft(*command, "-o", "b.jsonl")
        assert again.returncode == 1
        assert "nothing would go to" in " ".join(again.stderr.split())
        assert "Nothing to do" in weft(*command, "-o", "a.jsonl").stdout
        assert server.hits() == []
