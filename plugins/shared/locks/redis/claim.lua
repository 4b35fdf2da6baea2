-- KEYS the last tick with its owner, the running owner; ARGV tick (or nothing), owner, ttl, exclusive, ahead, remember.
-- The time is taken from Redis: the clocks of the instances differ.
local tick, owner, exclusive = ARGV[1], ARGV[2], ARGV[4]
if tick ~= '' then
  local last = redis.call('GET', KEYS[1])
  if last then
    local split = string.find(last, ':')
    if tonumber(string.sub(last, 1, split - 1)) >= tonumber(tick) and string.sub(last, split + 1) ~= owner then return 'taken' end
  end
  local time = redis.call('TIME')
  if tonumber(tick) > time[1] * 1000 + time[2] / 1000 + tonumber(ARGV[5]) then return 'early' end
end
local holder = redis.call('GET', KEYS[2])
local busy = holder and holder ~= owner
if busy and exclusive == 'wait' then return 'busy' end
if tick ~= '' then
  local by = owner
  if busy and exclusive == 'true' then by = '' end
  redis.call('SET', KEYS[1], tick .. ':' .. by, 'PX', ARGV[6])
end
if busy and exclusive == 'true' then return 'busy' end
if exclusive ~= 'false' then redis.call('SET', KEYS[2], owner, 'PX', ARGV[3]) end
return 'claimed'
