"""Scrapy on a frontier. This is the only package that imports Scrapy.

How a request goes through here: `scheduler` takes what Scrapy hands it in through `intake` (`pack`,
`fingerprint`) and puts it into the `buffer`; the buffer's background rounds store items, add links,
finish claims and claim anew, in that order. Claims wait in `ready` until Scrapy asks; `gate` keeps
the delay of a host to the moment of sending; `fates` gathers what becomes of the request
(`outcome`) until `held` says that Scrapy has let go of it.
"""
