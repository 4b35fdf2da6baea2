-- KEYS the running owner; ARGV owner, ttl, whether a claim that has expired can be extended, since no one else has taken it.
local holder = redis.call('GET', KEYS[1])
if (holder or ARGV[3] == '0') and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
