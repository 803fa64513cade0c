-- Sets KEYS[1] to ARGV[2] for ARGV[3] ms if it holds ARGV[1]; answers 1 if it did.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
