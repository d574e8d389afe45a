"""From link to packed request: which requests are the same, and how the frontier keeps them."""
