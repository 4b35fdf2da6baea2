-- Writes nothing about a channel without messages, since a client may join one name after another. If this instance knows that Redis
-- has lost numbers, for instance because it ended before it saved them, another epoch begins before they are used again.
local epoch = redis.call('hget', KEYS[1], 'e')
if not epoch then return false end
local number = redis.call('hget', KEYS[1], 'n') or '0'
if ARGV[4] ~= '' and ARGV[1] == epoch and tonumber(ARGV[2]) > tonumber(number) then
  epoch = ARGV[4]
  redis.call('hset', KEYS[1], 'e', epoch)
  redis.call('del', KEYS[2])
end
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local from = '-'
if ARGV[1] == epoch then from = ARGV[3] .. '-0' end
local entries = {}
if ARGV[2] ~= '' and (ARGV[1] == epoch or ARGV[5] ~= '') then entries = redis.call('xrange', KEYS[2], from, '+') end
local removed = redis.call('hget', KEYS[1], 'r')
if removed then removed = now - removed else removed = -1 end
return { epoch, number, now, entries, removed }
