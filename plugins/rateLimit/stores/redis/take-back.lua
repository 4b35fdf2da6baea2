-- A counter that has expired would begin again at -1, without an expiry.
if redis.call('exists', KEYS[1]) == 1 then
  redis.call('decr', KEYS[1])
end
