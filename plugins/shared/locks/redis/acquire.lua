-- KEYS the running owner, the last fence, the owner who is next; ARGV owner, ttl, milliseconds to be next in line (0: does not wait).
-- The fence is the time of Redis in microseconds, or one more than the last fence. The last one is remembered until the clock of Redis has
-- passed it, so the next one is higher even if that clock was set back, or all data is lost.
local holder = redis.call('GET', KEYS[1])
local first = redis.call('GET', KEYS[3])
if (holder and holder ~= ARGV[1]) or (first and first ~= ARGV[1]) then
  if ARGV[3] ~= '0' and (not first or first == ARGV[1]) then redis.call('SET', KEYS[3], ARGV[1], 'PX', ARGV[3]) end
  return false
end
if first then redis.call('DEL', KEYS[3]) end
local time = redis.call('TIME')
local fence = time[1] * 1000000 + time[2]
local last = tonumber(redis.call('GET', KEYS[2]) or 0)
if last >= fence then fence = last + 1 end
redis.call('SET', KEYS[2], string.format('%.0f', fence))
redis.call('PEXPIREAT', KEYS[2], string.format('%.0f', math.floor(fence / 1000) + 1000))
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return fence
