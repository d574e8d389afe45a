"""What users can do with Weft: list, start, pause, resume, stop and explain.

Each use case is an async function that returns a struct. It prints nothing, and loads Scrapy only
if it has to read a project. The command line renders the results, the API sends them.
"""
