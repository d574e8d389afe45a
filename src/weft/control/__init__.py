"""The control plane: masters, which serve the API. All that they do is done by `weft.services`."""
