-- The articles that were met. Each has an id of 5 bytes, made from its URL. Its record is the length
-- of the URL (4 bytes), the packed signature, the URL, and the URL of the article that it repeats, if
-- it does. The ids of the articles with a mark stand one after the other, those met last at the end;
-- many marks share a hash, which stays small enough to be kept as an array.

local ID_BYTES = 5
local SHARDS = 4096

local articles = prefix .. 'duplicates'
local met = prefix .. 'duplicates:met'

local function marks_key(shard)
  return prefix .. 'duplicates:marks:' .. shard
end
