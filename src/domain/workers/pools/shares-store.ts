import { type Expression, expressionBuilder, sql } from 'kysely';
import type { Tables } from '#domain/entities.ts';
import { takesWork } from '../store.ts';
import { defaultShares } from './model.ts';

/** Whether more than one team may use the pool of this name by its rules. A pool without rules is open to all. */
export function isOpenToSeveralTeams(pool: Expression<string>) {
  return sql<boolean>`(select count(*) from (
    select 1 from teams t left join worker_pools pool on pool.name = ${pool}
    where t.deleted_at is null
      and (pool.team_ids is null or pool.team_ids @> to_jsonb(t.id::text))
      and (pool.environment_ids is null or exists (
        select 1 from environments e join projects p on p.id = e.project_id
        where p.team_id = t.id and e.deleted_at is null and pool.environment_ids @> to_jsonb(e.id::text)))
    limit 2) as open) > 1`;
}

/**
 * How many slots of the pool of this name one team may occupy, and how many one person while others wait. The result is one row with
 * `team_share` and `person_share`; null: any number. Without live workers there are no slots to share.
 */
export function selectShares(pool: Expression<string>) {
  const { maxTeamPercent, maxPersonPercent } = defaultShares;
  const slots = expressionBuilder<Tables>()
    .selectFrom('workers as w')
    .where(sql<boolean>`w.pools @> jsonb_build_array(${pool})`)
    .where(takesWork)
    .select(sql<number>`coalesce(sum(w.concurrency), 0)::int`.as('slots'));
  return sql`select case when slots > 0 and team_percent < 100 then greatest(1, slots * team_percent / 100) end as team_share,
      case when slots > 0 and person_percent < 100 then greatest(1, slots * person_percent / 100) end as person_share
    from (
      select (${slots}) as slots, coalesce(max(pool.max_team_percent), ${sql.lit(maxTeamPercent)}) as team_percent,
        coalesce(max(pool.max_person_percent), ${sql.lit(maxPersonPercent)}) as person_percent
      from worker_pools pool where pool.name = ${pool}
    ) as pool`;
}
