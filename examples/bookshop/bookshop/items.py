"""What is kept of a book. Each field becomes a column, of the type that stands here."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass
class Book:
    name: str | None = None
    #: The address of the picture of its cover.
    source: str | None = None
    #: In yuan.
    price: Decimal | None = None
    author: str | None = None
    description: str | None = None
