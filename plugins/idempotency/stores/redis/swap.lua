local found = redis.call('get', KEYS[1])
if (found or '') ~= ARGV[1] then return found end
if ARGV[2] == '' then redis.call('del', KEYS[1]) else redis.call('set', KEYS[1], ARGV[2], 'px', ARGV[3]) end
return found
