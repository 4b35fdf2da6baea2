-- One step: of two refreshes with one token, only the first may succeed.
if redis.call('hget', KEYS[1], 'token') ~= ARGV[1] then return false end
redis.call('hset', KEYS[1], 'token', ARGV[2])
redis.call('pexpire', KEYS[1], ARGV[3])
return redis.call('hget', KEYS[1], 'subject')
