"""What stores read back: boards that may have been written by another version of Weft."""

import msgspec

from weft.boards.board.board import Board, unpack_board
from weft.errors import StoreFormatError


def read_stored(name: str, packed: str, place: str) -> Board:
    """Raises StoreFormatError."""
    try:
        return unpack_board(packed)
    except msgspec.MsgspecError as problem:
        raise StoreFormatError(
            f"the board {name} in {place} says something that this Weft does not know ({problem}); "
            f"upgrade Weft, or remove the board with: weft board remove {name}"
        ) from problem
