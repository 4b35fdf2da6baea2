-- The first message of each key, from key to key by the index: the backlog of one costs nothing.
with recursive keys(sender, key) as (
  select sender, min(key) from outbox_table where sender = $1 group by sender
  union all
  select sender, (select min(t.key) from outbox_table t where t.sender = keys.sender and t.key > keys.key)
  from keys where key is not null
), heads as (
  select o.id from keys
  join outbox_table o on o.id = (select min(t.id) from outbox_table t where t.sender = keys.sender and t.key = keys.key)
