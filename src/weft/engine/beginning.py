"""How a run of a job begins: whose job it is, whether it goes on or starts afresh."""

import logging

from scrapy import Spider

from weft.boards.past import forget_past
from weft.engine.claims.delivery import Delivery
from weft.engine.settings import JobConfig, check_host_key
from weft.errors import ConfigError
from weft.frontier import Frontier, LeasesBuckets
from weft.reports import tell_counts
from weft.sinks.outputs import describe, remember_outputs

logger = logging.getLogger(__name__)


async def begin_job(
    frontier: Frontier, config: JobConfig, delivery: Delivery, spider: Spider
) -> None:
    """A job with something left to do continues. With nothing left it starts afresh, unless the
    settings say that known URLs stay known."""
    if isinstance(frontier, LeasesBuckets) and not config.is_fresh:
        check_project(frontier.project, config)

    async def forget_items() -> None:
        await delivery.clear()
        await forget_past(config.boards, config.job)

    also_forget = forget_items if config.is_fresh else None
    is_over = await frontier.begin(
        is_fresh=config.is_fresh, is_rerun=config.is_rerun, also_forget=also_forget
    )
    check_host_key(frontier, config)
    outputs = describe(config.job, config.sinks, config.archives, config.job_dir)
    remember_outputs(config.job_dir, outputs, is_fresh=config.is_fresh)
    stats = await frontier.stats()
    if is_over or not stats.added:
        logger.info("The job %s starts", config.job, extra={"spider": spider})
    else:
        logger.info(
            "The job %s continues: %s. To start over instead, use -s WEFT_FRESH=1",
            config.job,
            tell_counts(stats),
            extra={"spider": spider},
        )


def check_project(owner: str, config: JobConfig) -> None:
    """Raises ConfigError if the job belongs to another project: its spider is not ours."""
    project = config.frontier.shared.project
    if owner and project and owner != project:
        raise ConfigError(
            f"the job {config.job} in {config.store.place} belongs to the project {owner}, and "
            f"this is {project} (BOT_NAME); choose another name with --job (WEFT_JOB) or another "
            "store, or take the job over with --fresh (WEFT_FRESH)"
        )
