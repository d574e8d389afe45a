"""What the endpoints of a master work with."""

from typing import Annotated

import msgspec
from fastapi import Depends, Path, Request

from weft.cluster.audit import AuditLog
from weft.cluster.tokens import Tokens
from weft.config import job_name
from weft.frontier import JobHome, Store, find_home


class Master(msgspec.Struct, frozen=True):
    """One of the masters of a store: they are peers, and none of them keeps anything."""

    store: Store
    tokens: Tokens
    audit: AuditLog


def _master_of(request: Request) -> Master:
    master: Master = request.app.state.master
    return master


#: A name in the path of a request. Longer ones are nowhere: names are also those of directories.
Name = Annotated[str, Path(max_length=255)]


def _job_of(job: Name) -> str:
    return job_name(job)


def _home_of(request: Request, job: Name) -> JobHome:
    return find_home(job, store=_master_of(request).store.url)


#: Parameters of endpoints: the master, the name of a job in the path, and where that job lives.
TheMaster = Annotated[Master, Depends(_master_of)]
TheJob = Annotated[str, Depends(_job_of)]
TheHome = Annotated[JobHome, Depends(_home_of)]
