-- Changes a mark to a number that it never had: the server's time in µs, and always more than the
-- number before. An evicted or flushed mark starts at the time again, which has moved on.
-- KEYS[1] the mark
-- ARGV    its life in ms
local time = redis.call('TIME')
local mark = time[1] * 1000000 + time[2]
local kept = tonumber(redis.call('GET', KEYS[1]) or 0) or 0
if kept >= mark then
  mark = kept + 1
end
redis.call('SET', KEYS[1], string.format('%.0f', mark), 'PX', ARGV[1])
return mark
