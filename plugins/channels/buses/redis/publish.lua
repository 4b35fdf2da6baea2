-- Numbers, stores and publishes a message in one step, so that all instances see the messages of a channel in the order of their numbers.
-- A channel whose numbers are gone begins another epoch, and loses the messages that it kept under the old numbers. Each kept message has
-- the total of all bytes up to it, so that the bytes since any message are a difference.
local epoch = redis.call('hget', KEYS[1], 'e')
if not epoch then
  epoch = ARGV[6]
  redis.call('hset', KEYS[1], 'e', epoch)
  redis.call('del', KEYS[2])
end
local number = redis.call('hincrby', KEYS[1], 'n', 1)
redis.call('pexpire', KEYS[1], ARGV[7])
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if ARGV[9] == 'remove' then redis.call('hset', KEYS[1], 'r', now) end
if tonumber(ARGV[4]) > 0 then
  local total = redis.call('hincrby', KEYS[1], 't', #ARGV[3])
  redis.call('xadd', KEYS[2], 'maxlen', ARGV[4], number .. '-0', 'm', ARGV[2], 'b', ARGV[3], 'e', now + ARGV[5], 't', total)
  redis.call('pexpire', KEYS[2], ARGV[5])
  local first = redis.call('xrange', KEYS[2], '-', '+', 'count', 1)[1]
  while first and total - (first[2][8] or total) + #first[2][4] > tonumber(ARGV[8]) do
    redis.call('xdel', KEYS[2], first[1])
    first = redis.call('xrange', KEYS[2], '-', '+', 'count', 1)[1]
  end
end
local id = epoch .. '-' .. number
redis.call('publish', ARGV[1], 'm' .. id .. '\n' .. ARGV[2] .. '\n' .. ARGV[3])
return id
