-- One request for all connections. Without a request() function wrk formats it once, so the script costs nothing later.
wrk.method = os.getenv('BENCH_METHOD')
local body = os.getenv('BENCH_BODY')
if body ~= '' then wrk.body = body end
local type = os.getenv('BENCH_TYPE')
if type ~= '' then wrk.headers['content-type'] = type end
