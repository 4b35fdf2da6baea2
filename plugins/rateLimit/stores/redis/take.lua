-- One step for all windows: a request that one of them refuses counts in none. Times are those of Redis, for all processes.
local time = redis.call('time')
local now = time[1] * 1000 + time[2] / 1000
local cost = tonumber(ARGV[1])
local accepted, longest, written, states = 1, 0, {}, {}
for i = 2, #ARGV, 3 do
  local limit, window, burst = tonumber(ARGV[i]), tonumber(ARGV[i + 1]), tonumber(ARGV[i + 2])
  local field = ARGV[i + 1] .. (burst and 'b' or '')
  local saved = redis.call('hmget', KEYS[1], field, field .. 'e')
  local used, rest = tonumber(saved[1]) or 0, (tonumber(saved[2]) or 0) - now
  if burst then
    -- A clock that is set back must not keep a client out for longer than a full bucket does.
    local full = burst * window / limit
    if rest > full then
      rest = full
      redis.call('hset', KEYS[1], field .. 'e', string.format('%.3f', now + full))
    end
    rest = math.max(rest, 0)
    local after = rest + cost * window / limit
    if after > full + 0.01 then accepted = 0 end
    states[#states + 1] = { rest * limit / window, rest, after * limit / window, after }
  else
    if rest <= 0 or rest > window then used, rest = 0, window end
    if used + cost > limit then accepted = 0 end
    states[#states + 1] = { used, rest, used + cost, rest }
  end
  written[#written + 1] = field
end
local answer = { accepted }
for i, state in ipairs(states) do
  local used, rest = state[1 + 2 * accepted], state[2 + 2 * accepted]
  if accepted == 1 then
    redis.call('hset', KEYS[1], written[i], string.format('%.17g', used), written[i] .. 'e', string.format('%.3f', now + rest))
    longest = math.max(longest, rest)
  end
  answer[#answer + 1] = string.format('%.17g', used)
  answer[#answer + 1] = string.format('%.3f', rest)
end
if accepted == 1 and longest > 0 then redis.call('pexpire', KEYS[1], math.ceil(longest)) end
return answer
