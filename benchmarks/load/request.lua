-- One request for all connections, or a cycle of several, or a batch of the same one. Without a request() function wrk
-- formats it once, so that the script costs nothing later.
wrk.method = os.getenv('BENCH_METHOD')
local body = os.getenv('BENCH_BODY')
if body ~= '' then
  local file = io.open(body, 'rb')
  wrk.body = file:read('*a')
  file:close()
end
for name, value in os.getenv('BENCH_HEADERS'):gmatch('([^\n:]+): ([^\n]+)') do wrk.headers[name] = value end

local paths = {}
for path in os.getenv('BENCH_PATHS'):gmatch('[^\n]+') do paths[#paths + 1] = path end
local pipelining = tonumber(os.getenv('BENCH_PIPELINING'))

if #paths > 1 or pipelining > 1 then
  local requests = {}
  local at = 0
  function init()
    for i, path in ipairs(paths) do requests[i] = wrk.format(nil, path):rep(pipelining) end
  end
  function request()
    at = at % #requests + 1
    return requests[at]
  end
end
