"""Scrapy on a frontier.

`crawl` assembles the parts of a crawl. `requests` turns what a spider finds into packed requests,
`claims` holds what this worker should fetch and reports the outcome, `politeness` decides when a
request is sent, and `scrapy` is what Scrapy loads: thin adapters to the rest.
"""
