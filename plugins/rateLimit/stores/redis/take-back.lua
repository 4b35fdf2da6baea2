-- A window that has begun since then has not counted the request: below zero, it would allow more than its limit.
if tonumber(redis.call('get', KEYS[1]) or 0) > 0 then
  redis.call('decr', KEYS[1])
end
