redis.call('hset', KEYS[1], 'token', ARGV[1], 'subject', ARGV[2])
redis.call('pexpire', KEYS[1], ARGV[3])
