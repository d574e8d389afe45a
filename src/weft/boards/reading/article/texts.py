"""What makes two texts the same for a reader."""

import re
import unicodedata

_NO_LETTERS = re.compile(r"[\W_]+")


def key(text: str) -> str:
    """Letters and digits only, lower case."""
    return _NO_LETTERS.sub("", unicodedata.normalize("NFKC", text)).lower()
