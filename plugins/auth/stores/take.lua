-- One step: of two sockets with one ticket, only the first may open.
local text = redis.call('get', KEYS[1])
redis.call('del', KEYS[1])
return text
