insert into lock_table as t (job, owner, until) values ($1, $2, now() + $3::bigint * interval '1 millisecond')
on conflict (job) do update set
  (owner, until, next_owner, next_until) = (
    select case when free then $2 else t.owner end, case when free then excluded.until else t.until end,
      case when free then null else $2 end, now() + $4::bigint * interval '1 millisecond'
    from (select t.owner is null or t.owner = $2 or t.until <= now() as free) of_lock
  ),
  fence = default
where (t.next_owner is null or t.next_owner = $2 or t.next_until <= now())
  and (t.owner is null or t.owner = $2 or t.until <= now() or $4::bigint > 0)
returning case when owner = $2 then fence end as fence
