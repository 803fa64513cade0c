-- Deletes KEYS[1] if it holds ARGV[1]; answers 1 if it did.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
