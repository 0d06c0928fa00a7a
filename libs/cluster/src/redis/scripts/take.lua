-- Takes one unit of an allowance (GCRA, the generic cell rate algorithm) and keeps the theoretical
-- arrival time as "<milliseconds since 1970>.<nanoseconds>": in one number it would not fit the 53
-- bits of a double. Times in here are relative to now and do.
-- KEYS[1] the allowance
-- ARGV    now in ms, a unit in ns, all units in ns, the key's life in ms
-- Returns by how many ns the unit comes too early; not above 0 when it was taken.
local now, unit, full = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local ahead = 0
local millis, nanos = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+)%.(%d+)$')
if millis then
  ahead = math.max(0, (millis - now) * 1000000 + nanos)
end
local beyond = ahead + unit - full
if beyond <= 0 then
  local arrival = ahead + unit
  local rest = math.fmod(arrival, 1000000)
  local kept = string.format('%.0f.%.0f', now + (arrival - rest) / 1000000, rest)
  redis.call('SET', KEYS[1], kept, 'PX', ARGV[4])
end
return beyond
