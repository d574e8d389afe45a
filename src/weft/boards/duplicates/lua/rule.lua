-- When two articles are the same story: the rule of rule.py, which says why.
-- A signature is a table of its bytes, as `Signature.pack` in signature.py makes them: size (2),
-- facts (8), marks (5 of 4) and sketch (32). Byte by byte, for a number holds only 53 bits exactly.

local SIGNATURE_BYTES = 62
local FACTS_FROM, FACTS_TO = 3, 10
local MARKS_FROM, MARKS_TO, MARK_BYTES = 11, 30, 4
local SKETCH_FROM, SKETCH_TO = 31, 62
local HALF = 128
local FACTS = 64
local bxor, band = bit.bxor, bit.band

-- How many bits of a byte are set.
local ones = { [0] = 0 }
for byte = 1, 255 do
  ones[byte] = ones[(byte - byte % 2) / 2] + byte % 2
end

local function size_of(signature)
  return 256 * signature[1] + signature[2]
end

local function distance(one, other)
  local differing = 0
  for at = SKETCH_FROM, SKETCH_TO do
    differing = differing + ones[bxor(one[at], other[at])]
  end
  return differing
end

local function are_facts_equal_enough(one, other)
  local in_one, in_other, in_both = 0, 0, 0
  for at = FACTS_FROM, FACTS_TO do
    in_one = in_one + ones[one[at]]
    in_other = in_other + ones[other[at]]
    in_both = in_both + ones[band(one[at], other[at])]
  end
  local fewer = math.min(in_one, in_other)
  if fewer < min_facts then
    return true
  end
  local by_chance = in_one * in_other
  return 100 * (FACTS * in_both - by_chance) >= facts * (FACTS * fewer - by_chance)
end

local function are_equal(one, other)
  for at = MARKS_FROM, SKETCH_TO do
    if one[at] ~= other[at] then
      return false
    end
  end
  return true
end

-- least:      resemblance, in per cent
-- differing:  their distance
local function is_duplicate(one, other, least, differing)
  local size, other_size = size_of(one), size_of(other)
  if size == 0 or other_size == 0 then
    return size == other_size and are_equal(one, other)
  end
  local equal = HALF - differing
  if 100 * equal < least * HALF then
    return false
  end
  local common = 100 * equal * (size + other_size)
  if common < containment * math.min(size, other_size) * (HALF + equal) then
    return false
  end
  return are_facts_equal_enough(one, other)
end
