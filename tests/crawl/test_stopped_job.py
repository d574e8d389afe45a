"""A Scrapy project's own command on a job that was stopped."""

import asyncio
from pathlib import Path

from crawling import crawl
from walking import Walker

from launchers.redis import RedisServer
from weft.cluster.jobs import Jobs
from weft.cluster.status import JobState
from weft.redis.client import Client
from weft.testing import Site, SiteServer


async def set_state(server: RedisServer, job: str, state: JobState) -> None:
    async with Client(server.url) as client:
        await Jobs(client).set_state(job, state)


def test_a_worker_of_a_stopped_job_says_how_to_let_it_go_on(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    settings = {"WEFT_STORE": redis_server.url, "WEFT_JOB": "walk"}
    with SiteServer(Site(pages=5)) as site:
        asyncio.run(set_state(redis_server, "walk", JobState.STOPPED))
        refused = crawl(tmp_path, Walker, settings=settings, start_urls=[site.url])
        assert site.hits() == []
        asyncio.run(set_state(redis_server, "walk", JobState.RUNNING))
        done = crawl(tmp_path, Walker, settings=settings, start_urls=[site.url])
        assert {hit.path for hit in site.hits()} >= {"/p/1.html"}
    assert "the job walk was stopped" in refused.log
    assert f"weft job resume walk --store {redis_server.url}" in refused.log
    assert "Traceback" not in refused.log
    assert done.reason == "finished"
