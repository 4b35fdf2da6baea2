with seed as (
  insert into lock_table (job) values ($1) on conflict (job) do nothing
), decided as (
  select c.job, case
    when $2::bigint is not null and coalesce(c.tick >= $2::bigint, false) and c.tick_owner is distinct from $3 then 'taken'
    when $2::bigint > extract(epoch from now()) * 1000 + $6::bigint then 'early'
    when coalesce(c.owner <> $3 and c.until > now(), false) and $5 <> 'false' then 'busy'
    else 'claimed' end as outcome
  from lock_table c where c.job = $1 for update
), changed as (
  update lock_table t set
    tick = coalesce($2::bigint, t.tick),
    tick_owner = case when $2::bigint is null then t.tick_owner when d.outcome = 'claimed' then $3 else '' end,
    owner = case when d.outcome = 'claimed' and $5 <> 'false' then $3 else t.owner end,
    until = case when d.outcome = 'claimed' and $5 <> 'false' then now() + $4::bigint * interval '1 millisecond' else t.until end
  from decided d
  where t.job = d.job and (d.outcome = 'claimed' or (d.outcome = 'busy' and $5 = 'true'))
)
select outcome from decided
