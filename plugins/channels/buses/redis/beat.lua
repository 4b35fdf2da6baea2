local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local isNew = redis.call('zadd', KEYS[1], now, ARGV[1])
redis.call('pexpire', KEYS[1], ARGV[3])
return { isNew, redis.call('zrangebyscore', KEYS[1], '-inf', now - ARGV[2]) }
