"""Rules that say where the fields of a page are, where the automatic ones are wrong or missing.

A rule names a field and how to find it. A text alone is a CSS selector:

    fields:
      title: h1.headline
      author: {css: ".by a::text", steps: [strip]}
      price: {xpath: "//span[@itemprop='price']", steps: [number]}
      id: {regex: 'article/(\\d+)', in: url}
      published:                       # tried in order, until one finds something
        - css: time.published
        - regex: '"date":"([^"]+)"'

A field of an article (title, authors, published, modified, body, markdown, description, language,
images, tags, site_name, canonical_url) replaces the automatic one, and comes out as that would:
dates in ISO form, images as absolute URLs, authors as a list. Any other name makes a new field in
`extra`. A rule that finds nothing changes nothing, and is told.

How a rule works: its selector gives texts or elements; elements become their text; its steps
(see `steps`) change that in order; then all of it, or the first for a field with one value, is the
result. `form` is how rules are written, `rules` what they mean, `load` reads and describes them,
`apply` uses them on a page.
"""

from weft.boards.fields.apply import FoundFields, apply_rules
from weft.boards.fields.form import Fields
from weft.boards.fields.load import load_rules, parse_rules, rules_schema
from weft.boards.fields.rules import NO_RULES, FieldRules, rules_of

__all__ = [
    "NO_RULES",
    "FieldRules",
    "Fields",
    "FoundFields",
    "apply_rules",
    "load_rules",
    "parse_rules",
    "rules_of",
    "rules_schema",
]
