"""Redis or Valkey: client, key names, Lua scripts, and the private server."""
