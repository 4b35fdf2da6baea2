if redis.call('hget', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('hdel', KEYS[1], ARGV[1])
redis.call('publish', ARGV[3], ARGV[4])
return 1
