if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
local n = tonumber(ARGV[4])
local seen = redis.call('MGET', unpack(KEYS, 3, 3 + n))
for i = 1, n + 1 do
  if (seen[i] or '') ~= ARGV[4 + i] then return 0 end
end
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 1, n do
  local tag = KEYS[3 + n + i]
  redis.call('ZREMRANGEBYSCORE', tag, 0, now)
  redis.call('ZADD', tag, now + ARGV[2], KEYS[2])
  if redis.call('PTTL', tag) < tonumber(ARGV[2]) then redis.call('PEXPIRE', tag, ARGV[2]) end
end
return 1
