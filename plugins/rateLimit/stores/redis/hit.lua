-- Incrementing and setting the expiry are one step, so that no key can be left without an expiry.
local count = redis.call('incr', KEYS[1])
local rest = redis.call('pttl', KEYS[1])
if rest < 0 then
  redis.call('pexpire', KEYS[1], ARGV[1])
  rest = tonumber(ARGV[1])
end
return { count, rest }
