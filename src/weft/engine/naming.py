"""Names of jobs. A job is a spider and its arguments: other arguments make another job.

Arguments appear as a digest. Written out they could be long, or contain a password.
"""

import re
from collections.abc import Iterable, Mapping, Set
from hashlib import blake2b
from pathlib import Path

#: Scrapyd gives its own name of a run to each spider. It is no argument of the user's.
_OF_SCRAPYD = "_job"
_ADDRESS = re.compile(" at 0x[0-9a-fA-F]+")


def name_job(spider: str, arguments: Mapping[str, object], *positional: object) -> str:
    """The name of the job of a spider with these arguments, in whatever order they are given."""
    given = {name: value for name, value in arguments.items() if name != _OF_SCRAPYD}
    given |= {str(place): value for place, value in enumerate(positional)}
    if not given:
        return spider
    texts = (f"{name}={_text(given[name])}" for name in sorted(given))
    # One spider may have jobs for thousands of arguments, and no two may be taken for one.
    return f"{spider}-{digest(texts, size=6)}"


def _text(value: object) -> str:
    """2 is the same as "2", which is what a command line makes of it."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return f"{{{','.join(sorted(f'{key}={_text(value[key])}' for key in value))}}}"
    if isinstance(value, Set):
        return f"{{{','.join(sorted(map(_text, value)))}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_text, value))}]"
    # Its address is another in the next run.
    return _ADDRESS.sub("", repr(value))


def name_by_directory(name: str, job_dir: Path) -> str:
    """The name, in a shared store, of a job that has a JOBDIR: directories tell jobs apart."""
    own = job_dir.absolute().name
    return own if own == name or own.startswith(f"{name}-") else f"{name}-{own}"


def digest(texts: Iterable[str], size: int = 4) -> str:
    """`size`: in bytes."""
    return blake2b("\n".join(texts).encode(), digest_size=size).hexdigest()
