import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { QuotaScope } from '#domain/shared/vocabulary/quotas.ts';

/** The owner of a quota, with its place. */
export interface QuotaOwner {
  readonly scope: Exclude<QuotaScope, 'installation'>;
  readonly name: string;
  readonly organizationId: string;
  readonly teamId: string | null;
  readonly projectId: string | null;
  readonly environmentId: string | null;
}

/** The owner whose id an event of quotas names; undefined for the installation, and for an owner that was deleted. */
export async function findQuotaOwner(em: Em, id: string): Promise<QuotaOwner | undefined> {
  const none = sql<string | null>`null::uuid`;
  const environment = db(em)
    .selectFrom('environments as e')
    .innerJoin('projects as p', 'p.id', 'e.projectId')
    .innerJoin('teams as t', 't.id', 'p.teamId')
    .where('e.id', '=', id)
    .where('e.deletedAt', 'is', null)
    .select([
      sql.lit<string>('environment').as('scope'),
      sql<string>`t.name || ' / ' || p.name || ' / ' || e.name`.as('name'),
    ])
    .select(['t.organizationId', 't.id as teamId', 'p.id as projectId', 'e.id as environmentId'])
    .$castTo<QuotaOwner>();
  const team = db(em)
    .selectFrom('teams as t')
    .where('t.id', '=', id)
    .where('t.deletedAt', 'is', null)
    .select([sql.lit<string>('team').as('scope'), 't.name'])
    .select(['t.organizationId', 't.id as teamId', none.as('projectId'), none.as('environmentId')])
    .$castTo<QuotaOwner>();
  const organization = db(em)
    .selectFrom('organizations as o')
    .where('o.id', '=', id)
    .where('o.deletedAt', 'is', null)
    .select([sql.lit<string>('organization').as('scope'), 'o.name', 'o.id as organizationId'])
    .select([none.as('teamId'), none.as('projectId'), none.as('environmentId')])
    .$castTo<QuotaOwner>();
  return environment.unionAll(team).unionAll(organization).executeTakeFirst();
}
