-- Reads a mark; one that is not there is set to a number that it never had (see bump.lua).
-- KEYS[1] the mark
-- ARGV    its life in ms
local kept = tonumber(redis.call('GET', KEYS[1]) or '')
if kept then
  return kept
end
local time = redis.call('TIME')
local mark = time[1] * 1000000 + time[2]
redis.call('SET', KEYS[1], string.format('%.0f', mark), 'PX', ARGV[1])
return mark
