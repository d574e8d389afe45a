"""Reads YAML files that people write, and tells all their mistakes at once.

What a file may contain is declared as a msgspec Struct. From it come the values, and the JSON
Schema that editors use. `syntax` turns the text into nodes that know their lines; `typed` compares
them with the Struct; both collect `mistakes`, each with its place and its cure.

Scalars are read as YAML 1.2 does: only `true` and `false` are no text, not `yes`, `no` or `on`;
times and dates are texts. Aliases work, merges (`<<`) and tags do not.
"""

from weft.yamlfile.file import load_yaml, read_content, read_yaml
from weft.yamlfile.typed import Problem

__all__ = ["Problem", "load_yaml", "read_content", "read_yaml"]
