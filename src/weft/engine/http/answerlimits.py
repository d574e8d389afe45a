"""The limits of an answer, from the settings of the crawl or the meta of its request."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_KEYS = ("download_maxsize", "download_warnsize", "download_fail_on_dataloss")


@dataclass(frozen=True, slots=True)
class AnswerLimits:
    #: 0: any size.
    max_bytes: int
    #: 0: no warning.
    warn_bytes: int
    #: Whether an answer that was cut short is an error.
    fails_on_loss: bool

    def changed_by(self, meta: Mapping[str, Any]) -> "AnswerLimits":
        if not any(key in meta for key in _KEYS):
            return self
        return AnswerLimits(
            max_bytes=meta.get("download_maxsize", self.max_bytes),
            warn_bytes=meta.get("download_warnsize", self.warn_bytes),
            fails_on_loss=meta.get("download_fail_on_dataloss", self.fails_on_loss),
        )
