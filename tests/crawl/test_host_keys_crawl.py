"""What a budget belongs to: a host name, a domain, an address."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import naming
import pytest
from crawling import Crawl, crawl, paths
from delays import gaps_s

from launchers.redis import RedisServer
from running import Weft
from weft.testing import Site, SiteServer

#: Each request can be delayed by this much between being sent and being logged.
TOLERANCE_S = 0.05
DELAY_S = 0.2
SPIDER = Path(naming.__file__)
#: Two hosts of one domain, which here also have one address.
TWO = ("a.site.localhost", "b.site.localhost")


def call(directory: Path, urls: Iterable[str], **settings: object) -> Crawl:
    return crawl(directory, naming.Caller, settings, urls=" ".join(urls))


def pages(site: SiteServer, *hosts: str, count: int = 3) -> list[str]:
    """Of all hosts in turn."""
    numbers = range(1, count + 1)
    return [site.url_of(host, f"/p/{number}.html") for number in numbers for host in hosts]


@pytest.mark.parametrize(
    ("host_key", "hosts"),
    [("domain", TWO), ("ip", TWO), ("ip", ("a.localhost", "b.site.localhost", "127.0.0.1"))],
)
def test_hosts_that_share_a_key_share_a_delay(
    tmp_path: Path, site: SiteServer, host_key: str, hosts: Sequence[str]
) -> None:
    urls = pages(site, *hosts)
    done = call(tmp_path, urls, WEFT_HOST_KEY=host_key, DOWNLOAD_DELAY=DELAY_S)
    hits = site.hits()
    assert len(hits) == len(urls) == len(done.stored())
    assert min(gaps_s(hits)) >= DELAY_S - TOLERANCE_S
    assert done.stats["frontier/hosts"] == 1


@pytest.mark.parametrize(
    ("host_key", "hosts"),
    [("host", TWO), ("domain", ("a.one.localhost", "a.two.localhost"))],
)
def test_hosts_that_share_no_key_do_not_wait_for_each_other(
    tmp_path: Path, site: SiteServer, host_key: str, hosts: Sequence[str]
) -> None:
    urls = pages(site, *hosts)
    done = call(tmp_path, urls, WEFT_HOST_KEY=host_key, DOWNLOAD_DELAY=DELAY_S)
    hits = site.hits()
    assert len(hits) == 6
    assert hits[-1].at_s - hits[0].at_s < 5 * DELAY_S - TOLERANCE_S
    assert done.stats["frontier/hosts"] == 2


def test_hosts_that_share_a_key_share_a_concurrency(tmp_path: Path) -> None:
    with SiteServer(Site(latency_s=0.1)) as site:
        settings = {"WEFT_HOST_KEY": "ip", "CONCURRENT_REQUESTS_PER_DOMAIN": 2}
        call(tmp_path, pages(site, *TWO, count=6), **settings)
        hits = site.hits()
    assert len(hits) == 12
    most = max(sum(one.at_s <= hit.at_s < one.at_s + 0.1 for hit in hits) for one in hits)
    assert most == 2


def test_the_crawl_delay_of_one_host_is_kept_for_all(tmp_path: Path) -> None:
    slow = Site(robots="User-agent: *\nCrawl-delay: 0.3\n")
    quick = Site(robots="User-agent: *\nCrawl-delay: 0.1\n")
    with SiteServer(slow) as one, SiteServer(quick) as two:
        urls = [
            url
            for pair in zip(pages(one, TWO[0], count=4), pages(two, TWO[1], count=4), strict=True)
            for url in pair
        ]
        settings = {"ROBOTSTXT_OBEY": True, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}
        call(tmp_path, urls, WEFT_HOST_KEY="domain", **settings)
        hits = sorted([*one.hits(), *two.hits()], key=lambda hit: hit.at_s)
    assert len(hits) == 2 + 8
    assert paths(hits).count("/robots.txt") == 2
    # From the moment when the longer of the two is known.
    known_at_s = max(hit.at_s for hit in hits if hit.path == "/robots.txt")
    assert min(gaps_s([hit for hit in hits if hit.at_s > known_at_s])) >= 0.3 - TOLERANCE_S


def test_a_host_that_has_had_enough_pauses_all(tmp_path: Path) -> None:
    with SiteServer(Site(busy_every=1)) as busy, SiteServer(Site()) as other:
        urls = [*pages(busy, TWO[0], count=1), *pages(other, TWO[1], count=3)]
        settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1, "WEFT_ORDER": "bfs"}
        call(tmp_path, urls, WEFT_HOST_KEY="ip", **settings)
        refused, again = busy.hits()
        assert (refused.status, again.status) == (429, 200)
        after = [hit for hit in other.hits() if hit.at_s > refused.at_s]
        # One may have been on its way.
        assert len(after) >= 2
        assert sum(hit.at_s < refused.at_s + 1 - TOLERANCE_S for hit in after) <= 1


def test_limits_of_a_host_hold_for_its_domain(tmp_path: Path, site: SiteServer) -> None:
    slots = {TWO[0]: {"delay": DELAY_S}}
    call(tmp_path, pages(site, *TWO), WEFT_HOST_KEY="domain", DOWNLOAD_SLOTS=slots)
    assert len(site.hits()) == 6
    assert min(gaps_s(site.hits())) >= DELAY_S - TOLERANCE_S


@pytest.mark.parametrize("host_key", ["domain", "ip"])
def test_a_host_that_does_not_exist_holds_up_no_other(
    tmp_path: Path, site: SiteServer, host_key: str
) -> None:
    gone = pages(site, "gone.site.localhost")
    settings = {"CONCURRENT_REQUESTS_PER_DOMAIN": 1, "WEFT_HOST_KEY": host_key}
    done = call(tmp_path, [*gone, *pages(site, *TWO)], **settings)
    assert len(site.hits()) == len(done.stored()) == 6
    assert done.reason == "finished"
    assert (done.stats["frontier/held"], done.stats["frontier/queued_data"]) == (3, 3)
    for url in gone:
        told = done.explain(url)
        assert told.host is not None
        assert told.host.host == "gone.site.localhost"
        assert told.host.bad_until_ms > 0


def test_links_are_kept_out_by_the_name_of_their_host_not_by_their_key(tmp_path: Path) -> None:
    with SiteServer(Site(pages=5)) as site:
        spider = {"follow": "yes", "allowed": TWO[0]}
        urls = [site.url_of(TWO[0])]
        settings = {"WEFT_HOST_KEY": "domain"}
        done = crawl(tmp_path, naming.Caller, settings, urls=" ".join(urls), **spider)
        assert len(site.hits()) == len(done.stored()) == 5


def test_a_job_is_not_gone_on_with_by_another_host_key(tmp_path: Path, site: SiteServer) -> None:
    begun, then = "host", "domain"
    settings = {"WEFT_MAX_PAGES": 1, "CONCURRENT_REQUESTS": 1}
    call(tmp_path, pages(site, *TWO), WEFT_HOST_KEY=begun, **settings)
    refused = call(tmp_path, pages(site, *TWO), WEFT_HOST_KEY=then)
    assert f"was started with WEFT_HOST_KEY = '{begun}', but it is now '{then}'" in refused.log
    assert "start over with --fresh" in refused.log
    assert len(site.hits()) == 1
    fresh = call(tmp_path, pages(site, *TWO), WEFT_HOST_KEY=then, WEFT_FRESH=True)
    assert len(fresh.stored()) == 6


def test_a_job_goes_on_with_the_keys_that_it_has(tmp_path: Path, site: SiteServer) -> None:
    settings = {"WEFT_HOST_KEY": "ip", "CONCURRENT_REQUESTS": 1}
    call(tmp_path, pages(site, *TWO), WEFT_MAX_PAGES=2, **settings)
    done = call(tmp_path, pages(site, *TWO, "c.site.localhost"), **settings)
    assert len(site.hits()) == len(done.stored()) == 9
    assert done.stats["frontier/hosts"] == 1


# With several workers


@pytest.mark.parametrize("host_key", [pytest.param("domain", marks=pytest.mark.long), "ip"])
def test_workers_share_the_budget_of_a_host_key(
    weft: Weft, redis_server: RedisServer, site: SiteServer, host_key: str
) -> None:
    urls = [*pages(site, *TWO, count=5), *pages(site, "gone.site.localhost", count=2)]
    done = weft(
        *("crawl", str(SPIDER), "-a", f"urls={' '.join(urls)}", "--store", redis_server.url),
        *("--workers", "2", "--delay", str(DELAY_S), "-s", f"WEFT_HOST_KEY={host_key}"),
        *("-o", "out.jsonl"),
    )
    assert done.returncode == 0, done.stderr
    assert "2 requests held, because their hosts do not exist" in done.stdout
    hits = site.hits()
    assert len(hits) == 10
    assert min(gaps_s(hits)) >= DELAY_S - TOLERANCE_S
    assert len((weft.directory / "out.jsonl").read_text().splitlines()) == 10
    told = weft("frontier", "explain", urls[-1], "--store", redis_server.url).stdout
    assert "of gone.site.localhost, one of 2; the host does not exist" in told


def test_who_joins_with_another_host_key_is_refused(
    weft: Weft, redis_server: RedisServer, site: SiteServer
) -> None:
    command = (
        *("crawl", str(SPIDER), "-a", f"urls={' '.join(pages(site, *TWO))}"),
        *("--store", redis_server.url, "--max-pages", "1", "-o", "out.jsonl"),
    )
    assert weft(*command, "-s", "WEFT_HOST_KEY=domain").returncode == 0
    refused = weft(*command)
    assert refused.returncode == 1
    assert "was started with WEFT_HOST_KEY = 'domain', but it is now 'host'" in refused.stderr
    assert "Traceback" not in refused.stderr
