"""Items in MongoDB: one document each, in the collection that `mongodb://host/db/collection` names.

address     what the user wrote, and the client that it asks for
document    an item as a document, and back
rights      what the user may do there
writing     documents into the collection, new ones and known ones
problems    what the server says, in our words
sink        the `Sink` that is made of these
"""

from weft.sinks.base import SinkConfig
from weft.sinks.mongodb.address import parse_address
from weft.sinks.mongodb.sink import MongoSink

__all__ = ["MongoSink", "make_sink"]


def make_sink(output: str, config: SinkConfig) -> MongoSink:
    """Raises ConfigError if `output` is no address of a collection."""
    return MongoSink(parse_address(output), config.job)
