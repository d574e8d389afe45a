"""Reads files of rules, and describes them to editors."""

from pathlib import Path
from typing import Any

import msgspec

from weft.boards.fields.article import FIELDS, SINGULARS
from weft.boards.fields.form import Fields
from weft.boards.fields.rules import FieldRules, rules_of
from weft.yamlfile import load_yaml, read_yaml


class RulesFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the fields of pages are."""

    fields: Fields


def load_rules(path: Path) -> FieldRules:
    """Raises ConfigError with all that is wrong with the file."""
    return rules_of(load_yaml(path, RulesFile).fields)


def parse_rules(content: bytes, name: str) -> FieldRules:
    """The same for the content of a file; `name` is what mistakes call it."""
    return rules_of(read_yaml(content, name, RulesFile).fields)


def rules_schema() -> dict[str, Any]:
    """The JSON Schema of a file of rules."""
    schema = msgspec.json.schema(RulesFile)
    definitions = schema["$defs"]
    refine_fields(definitions, definitions["RulesFile"]["properties"]["fields"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Weft: rules for fields",
        **schema,
    }


def refine_fields(definitions: dict[str, Any], fields: dict[str, Any]) -> None:
    """Add to a schema what types cannot say: `definitions` are its $defs, `fields` the part for
    what stands under `fields:`. Editors then suggest the fields of an article, too."""
    definitions["Way"]["oneOf"] = [{"required": [name]} for name in ("css", "xpath", "regex")]
    definitions["Way"]["if"] = {"required": ["in"]}
    definitions["Way"]["then"] = {"required": ["regex"]}
    definitions["Option"] |= {"minProperties": 1, "maxProperties": 1}
    fields["properties"] = dict.fromkeys((*FIELDS, *SINGULARS), fields["additionalProperties"])
