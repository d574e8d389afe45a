"""A book shop without an internet: the pages of the paper's shop, made up as they are asked for.

`catalogue` knows the books, `pages` writes the HTML, `server` hands it out.
"""
