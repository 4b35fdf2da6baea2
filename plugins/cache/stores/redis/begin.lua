local entry = redis.call('GET', KEYS[2])
if entry and (ARGV[3] == '' or redis.sha1hex(entry) ~= ARGV[3]) then return entry end
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('MGET', unpack(KEYS, 3))
end
return false
