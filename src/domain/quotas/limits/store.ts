import { type Expression, sql } from 'kysely';
import type { ParameterOf } from '#database/queries.ts';
import { prepare } from '#domain/db.ts';
import type { QuotaScope } from '#domain/shared/vocabulary/quotas.ts';

/** The owners of something that is counted. The organization is the team's. Without a team, it belongs only to the installation. */
export interface QuotaOwners {
  readonly environmentId?: string | null;
  readonly teamId: string | null;
}

interface OwnerParameters {
  readonly environmentId: string | null;
  readonly teamId: string | null;
}

const lockName = (name: string) => sql.lit(`delivery-coordinator/quotas/${name}`);

/**
 * Takes share locks on the quotas of all owners until the commit. A change of one of them waits for all transactions that have read it, and
 * later readers see the change. Read the quotas in the next statement.
 */
export const shareQuotas = prepare((db, parameter: ParameterOf<OwnerParameters>) =>
  db.selectNoFrom((eb) => [
    sql`case when ${parameter('environmentId')}::uuid is not null then
      pg_advisory_xact_lock_shared(hashtextextended(${lockName('environment/')} || ${parameter('environmentId')}::text, 0)) end`.as(
      'environment',
    ),
    sql`case when ${parameter('teamId')}::uuid is not null then
      pg_advisory_xact_lock_shared(hashtextextended(${lockName('team/')} || ${parameter('teamId')}::text, 0)) end`.as(
      'team',
    ),
    eb
      .selectFrom('teams')
      .where('teams.id', '=', parameter('teamId'))
      .select(
        sql`pg_advisory_xact_lock_shared(hashtextextended(${lockName('organization/')} || ${sql.ref('teams.organizationId')}::text, 0))`.as(
          'locked',
        ),
      )
      .as('organization'),
    sql`pg_advisory_xact_lock_shared(hashtextextended(${lockName('installation/global')}, 0))`.as('installation'),
  ]),
);

/** Wraps the limits, so that a row with damaged limits, such as a JSON null, differs from a missing row. */
function storedLimits(limits: Expression<unknown>) {
  return sql<{ limits: unknown }>`jsonb_build_object('limits', ${limits})`.as('stored');
}

/** The stored quotas of all owners, with the owners' ids. An owner without a quota has null. */
export const selectLimits = prepare((db, parameter: ParameterOf<OwnerParameters>) =>
  db
    .selectNoFrom((eb) => [
      sql<QuotaScope>`'installation'`.as('scope'),
      sql<string>`'global'`.as('id'),
      eb
        .selectFrom('quotas as q')
        .where('q.scope', '=', sql.lit('installation' as const))
        .where('q.clearedAt', 'is', null)
        .select((of) => storedLimits(of.ref('q.limits')))
        .as('stored'),
    ])
    .unionAll(
      db
        .selectFrom('teams as t')
        .where('t.id', '=', parameter('teamId'))
        .select((eb) => [
          sql<QuotaScope>`'organization'`.as('scope'),
          eb.cast<string>('t.organizationId', 'text').as('id'),
          eb
            .selectFrom('quotas as q')
            .whereRef('q.organizationId', '=', 't.organizationId')
            .where('q.clearedAt', 'is', null)
            .select((of) => storedLimits(of.ref('q.limits')))
            .as('stored'),
        ]),
    )
    .unionAll(
      db
        .selectFrom('teams as t')
        .where('t.id', '=', parameter('teamId'))
        .select((eb) => [
          sql<QuotaScope>`'team'`.as('scope'),
          eb.cast<string>('t.id', 'text').as('id'),
          eb
            .selectFrom('quotas as q')
            .whereRef('q.teamId', '=', 't.id')
            .where('q.clearedAt', 'is', null)
            .select((of) => storedLimits(of.ref('q.limits')))
            .as('stored'),
        ]),
    )
    .unionAll(
      db
        .selectFrom('environments as e')
        .where('e.id', '=', parameter('environmentId'))
        .select((eb) => [
          sql<QuotaScope>`'environment'`.as('scope'),
          eb.cast<string>('e.id', 'text').as('id'),
          eb
            .selectFrom('quotas as q')
            .whereRef('q.environmentId', '=', 'e.id')
            .where('q.clearedAt', 'is', null)
            .select((of) => storedLimits(of.ref('q.limits')))
            .as('stored'),
        ]),
    ),
);
