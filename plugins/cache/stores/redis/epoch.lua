redis.call('INCR', KEYS[1])
return redis.call('EXPIRE', KEYS[1], 172800)
