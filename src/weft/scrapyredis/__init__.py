"""Moves a crawl from scrapy-redis: its queue and its dupefilter into a frontier of Weft.

`source` reads Redis, `plainpickle` reads pickles without running them, `entries` turns them into
Scrapy requests, `packing` packs these as a crawl would, `transfer` runs the import.
"""
