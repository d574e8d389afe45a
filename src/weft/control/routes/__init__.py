"""The endpoints, one module per noun. Each reads a request, calls a service and answers."""
