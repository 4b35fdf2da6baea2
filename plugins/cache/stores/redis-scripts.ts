// The versions of invalidated tags are kept for longer than any response can take to compute.
const versionSeconds = 2 * 86_400

/**
 * KEYS lock, entry, epoch, a version for each tag; ARGV token, milliseconds, whether to look for the entry. Returns the entry if
 * another process has stored it; otherwise the versions; or nothing while another process has the lock.
 */
export const beginScript = `
local entry = ARGV[3] == '1' and redis.call('GET', KEYS[2])
if entry then return entry end
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('MGET', unpack(KEYS, 3))
end
return false`

/**
 * KEYS lock, entry, epoch, n versions, n tags; ARGV token, milliseconds, bytes, n, the versions seen at the beginning.
 * Returns 1 when the entry was kept, 0 when the epoch or one of its tags was invalidated meanwhile.
 */
export const commitScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
local n = tonumber(ARGV[4])
local seen = redis.call('MGET', unpack(KEYS, 3, 3 + n))
for i = 1, n + 1 do
  if (seen[i] or '') ~= ARGV[4 + i] then return 0 end
end
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[2])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 1, n do
  local tag = KEYS[3 + n + i]
  redis.call('ZREMRANGEBYSCORE', tag, 0, now)
  redis.call('ZADD', tag, now + ARGV[2], KEYS[2])
  if redis.call('PTTL', tag) < tonumber(ARGV[2]) then redis.call('PEXPIRE', tag, ARGV[2]) end
end
return 1`

/** KEYS lock; ARGV token. Only the owner releases the lock: after a timeout, another process may have it. */
export const abandonScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`

/** KEYS version, tag. Returns the number of entries removed. */
export const invalidateScript = `
local removed = 0
local keys = redis.call('ZRANGE', KEYS[2], 0, -1)
for i = 1, #keys, 1000 do
  removed = removed + redis.call('UNLINK', unpack(keys, i, math.min(i + 999, #keys)))
end
redis.call('DEL', KEYS[2])
redis.call('INCR', KEYS[1])
redis.call('EXPIRE', KEYS[1], ${versionSeconds})
return removed`

/** KEYS epoch. */
export const epochScript = `
redis.call('INCR', KEYS[1])
return redis.call('EXPIRE', KEYS[1], ${versionSeconds})`
