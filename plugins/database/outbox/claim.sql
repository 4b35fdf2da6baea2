-- Claims the first message of each key that is due, from key to key by the index: the backlog of one costs nothing. The names in braces are replaced.
with recursive keys(sender, key) as (
  select sender, min(key) from {table} where sender = $1 group by sender
  union all
  select sender, (select min(t.key) from {table} t where t.sender = keys.sender and t.key > keys.key)
  from keys where key is not null
), heads as (
  select o.id from keys
  join {table} o on o.id = (select min(t.id) from {table} t where t.sender = keys.sender and t.key = keys.key)
  where o.due_at <= {now} order by o.id limit $2 {locked}
)
{claimed} where id in (select id from heads) {returned}
