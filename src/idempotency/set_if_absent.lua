-- Answers what KEYS[1] holds; if nothing, sets it to ARGV[1] for ARGV[2] ms and answers nil.
-- One script, because SET NX GET exists only since Redis 7.0.
local present = redis.call('GET', KEYS[1])
if not present then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return present
