import { type Expression, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { ParameterOf } from '#database/queries.ts';
import { db, prepare } from '#domain/db.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import type { Share } from '#domain/shared/vocabulary/waiting.ts';
import { isOpenToSeveralTeams, selectShares } from '#domain/workers/pools/shares-store.ts';

/**
 * The run `runId` and the runs that wait for a share of a pool, each with the share that it lacks; null: it may have a slot now. Free slots
 * go first to running runs, then to runs that waited for approval, then to new runs, and among equals in the order of admission. A run
 * holds a slot from the opening of an attempt to its end; the run `runId` counts as holding none. A person and the service accounts that
 * belong to that person count together. Without live workers nobody has a share. Runs of teams that already hold their whole share are left
 * out.
 */
function selectAsking(pool: Expression<string>, runId: Expression<string | null>) {
  return sql<{ id: string; workflowId: string; lacks: Share | null }>`(
    with asking as (
      select r.id, r.idempotency_key, coalesce(r.team_id::text, 'installation') as team,
        coalesce(r.responsible_user_id, r.requested_by_id) as person,
        a.id is not null and r.id is distinct from ${runId} as holds,
        case r.status when 'running' then 0 when 'pending_approval' then 1 else 2 end as place
      from runs r
        left join run_attempts a on a.id = r.attempt_id and a.outcome is null and r.status in ('running', 'canceling')
      where r.finished_at is null and r.pool = ${pool}
        and (a.id is not null or r.waiting_on ->> 'code' = 'pool_share' or r.id = ${runId})
    ), shares as (
      select team_share, case when (select count(distinct person) from asking) > 1 then person_share end as person_share
      from (${selectShares(pool)}) as unasked
    ), teams_holding as (select team, count(*) filter (where holds) as team_holds from asking group by team),
    persons_holding as (select person, count(*) filter (where holds) as person_holds from asking group by person),
    in_persons as (
      select asking.id, idempotency_key, team, place, team_holds,
        person_holds + row_number() over (partition by person order by place, asking.id) > person_share is true as beyond_person
      from asking join teams_holding using (team) join persons_holding using (person) cross join shares
      where not holds and (team_share is null or team_holds < team_share)
    ), in_teams as (
      select id, idempotency_key, beyond_person,
        team_holds + row_number() over (partition by team, beyond_person order by place, id) as of_team
      from in_persons
    )
    select in_teams.id, in_teams.idempotency_key as workflow_id,
      case when beyond_person then 'person' when of_team > team_share then 'team' end as lacks
    from in_teams cross join shares
  )`;
}

/**
 * The share that other runs already use up, so that this run gets no slot: `person` is reported before `team`. This query is cheap even if
 * many runs wait. It avoids the statement above while the team or the person of the run already holds its whole share.
 */
function selectExhausted(runId: Expression<string>) {
  return sql<Share | null>`(
    select case
      when count(r.id) filter (where r.person = me.person) >= person_share
        and count(r.id) filter (where r.person <> me.person) > 0 then 'person'
      when count(r.id) filter (where r.team_id is not distinct from me.team_id) >= team_share then 'team' end
    from (select id, pool, team_id, coalesce(responsible_user_id, requested_by_id) as person from runs where id = ${runId}) as me
      cross join lateral (${selectShares(sql`me.pool`)}) as shares
      left join lateral (
        select r.id, r.team_id, coalesce(r.responsible_user_id, r.requested_by_id) as person
        from runs r join run_attempts a on a.id = r.attempt_id and a.outcome is null
        where r.finished_at is null and r.status in ('running', 'canceling') and r.pool = me.pool and r.id <> me.id
      ) as r on true
    group by team_share, person_share
  )`;
}

/** The share that a run lacks to get a slot of its pool now; `none` if it may have one. */
export const selectLackedShare = prepare((db, parameter: ParameterOf<{ pool: string; runId: string }>) => {
  const runId = sql<string>`${parameter('runId')}::uuid`;
  const asking = selectAsking(sql`${parameter('pool')}::text`, runId);
  return db.selectNoFrom(
    sql<Share | 'none'>`coalesce(${selectExhausted(runId)},
      (select coalesce(lacks, 'none') from ${asking} as asking where id = ${runId}), 'team')`.as('share'),
  );
});

/**
 * The runs that use up the share that a run lacks, oldest first: those of its person or team that hold slots of its pool, and that the
 * reader may read.
 */
export function findShareHolders(
  em: Em,
  reader: Principal,
  { runId, share, max }: { readonly runId: string; readonly share: Share; readonly max: number },
) {
  const isOfShare = {
    person: sql<boolean>`coalesce(r.responsible_user_id, r.requested_by_id) = coalesce(me.responsible_user_id, me.requested_by_id)`,
    team: sql<boolean>`r.team_id is not distinct from me.team_id`,
  }[share];
  return db(em)
    .selectFrom('runs as me')
    .innerJoin('runs as r', (join) => join.onRef('r.pool', '=', 'me.pool').onRef('r.id', '<>', 'me.id'))
    .innerJoin('run_attempts as a', 'a.id', 'r.attemptId')
    .where('me.id', '=', runId)
    .where('a.outcome', 'is', null)
    .where('r.finishedAt', 'is', null)
    .where('r.status', 'in', ['running', 'canceling'])
    .where(isOfShare)
    .where((eb) => isInReadableTeam(reader, eb.ref('r.teamId'), 'visible'))
    .select(['r.id', 'r.instance', 'r.startedAt'])
    .orderBy('r.id')
    .limit(max)
    .execute();
}

/** Of the runs that wait for a share of a pool that several teams use, those that may have a slot now. */
export const selectEntitledWaiters = prepare((db, parameter: ParameterOf<{ pool: string }>) =>
  db
    .selectFrom(selectAsking(sql`${parameter('pool')}::text`, sql`null::uuid`).as('asking'))
    .where('asking.lacks', 'is', null)
    .where(isOpenToSeveralTeams(sql`${parameter('pool')}::text`))
    .select('asking.workflowId'),
);

/** All runs that wait for a share of a pool, for when its rules have changed. */
export const selectWaiters = prepare((db, parameter: ParameterOf<{ pool: string }>) =>
  db
    .selectFrom('runs')
    .where('finishedAt', 'is', null)
    .where('pool', '=', parameter('pool'))
    .where(sql<boolean>`waiting_on ->> 'code' = 'pool_share'`)
    .select('idempotencyKey as workflowId'),
);
