"""Fingerprints as scrapy-redis makes them, for projects that import its dupefilter."""

import json
from hashlib import sha1

from scrapy import Request
from w3lib.url import canonicalize_url


class ScrapyRedisFingerprinter:
    """For REQUEST_FINGERPRINTER_CLASS of a project that imports a dupefilter of scrapy-redis.

    The dupefilter of scrapy-redis 0.9 uses its own fingerprints, not Scrapy's.
    """

    def fingerprint(self, request: Request) -> bytes:
        fields = {
            "method": request.method,
            "url": canonicalize_url(request.url),
            "body": request.body.hex(),
        }
        text = json.dumps(fields, sort_keys=True)
        return sha1(text.encode(), usedforsecurity=False).digest()
