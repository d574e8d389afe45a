"""The links of a page, and what a page would cost a parser."""
