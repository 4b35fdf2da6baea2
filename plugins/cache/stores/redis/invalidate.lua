local removed = 0
local keys = redis.call('ZRANGE', KEYS[2], 0, -1)
for i = 1, #keys, 1000 do
  removed = removed + redis.call('UNLINK', unpack(keys, i, math.min(i + 999, #keys)))
end
redis.call('DEL', KEYS[2])
redis.call('INCR', KEYS[1])
redis.call('EXPIRE', KEYS[1], 172800)
return removed
