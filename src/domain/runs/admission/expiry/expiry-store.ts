import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import type { IdPage } from '#domain/shared/paging/every-row.ts';

/** An instance that has outlived its environment's time to live, and the run that deployed it as it is. */
export interface ExpiredInstance {
  readonly id: string;
  readonly templateId: string;
  readonly environmentId: string;
  readonly deployedRunId: string;
}

/** The next instances, by id, that are due for destruction and that no run uses. */
export function findExpired(em: Em, { after, limit }: IdPage): Promise<ExpiredInstance[]> {
  return selectDue(em).where('i.id', '>', after).orderBy('i.id').limit(limit).execute();
}

/** An instance that will be due for destruction, with its team and the time. */
export interface ExpiringInstance extends ExpiredInstance {
  readonly name: string;
  readonly teamId: string;
  readonly team: string | null;
  readonly project: string | null;
  readonly environment: string | null;
  readonly at: string;
}

/** The next instances, by id, that will be due within a day. Those whose environment lets them live for less than a day are left out. */
export function findExpiring(em: Em, { after, limit }: IdPage): Promise<ExpiringInstance[]> {
  return selectDue(em, daySeconds)
    .innerJoin('projects as p', 'p.id', 'e.projectId')
    .innerJoin('teams as t', 't.id', 'p.teamId')
    .where('e.ttlSeconds', '>=', daySeconds)
    .where((eb) => sql<boolean>`${endOfLife(eb)} > clock_timestamp()`)
    .where('i.id', '>', after)
    .select((eb) => ['i.name', 'p.teamId', endOfLife(eb).as('at')])
    .select(['t.name as team', 'p.name as project', 'e.name as environment'])
    .orderBy('i.id')
    .limit(limit)
    .execute();
}

const daySeconds = 86_400;

/** When an instance has outlived its environment's time to live. */
function endOfLife(eb: Over<{ e: 'environments'; r: 'runs' }>) {
  return sql<string>`(${eb.ref('r.finishedAt')} + make_interval(secs => ${eb.ref('e.ttlSeconds')}))`;
}

/** Locks an instance. Returns whether it is still due and the given run is still its last deployment. */
export async function lockIfExpired(em: Em, { id, deployedRunId }: ExpiredInstance): Promise<boolean> {
  const rows = await selectDue(em).where('i.id', '=', id).where('r.id', '=', deployedRunId).forUpdate(['i']).execute();
  return rows.length > 0;
}

/**
 * An instance is due once per deployment: not again after the service has requested a run since then. It is never due if its template
 * cannot destroy it. `withinSeconds` also selects those that will be due within this time.
 */
function selectDue(em: Em, withinSeconds = 0) {
  return db(em)
    .selectFrom('environments as e')
    .innerJoin('instances as i', 'i.environmentId', 'e.id')
    .innerJoin('runs as r', 'r.id', 'i.deployedRunId')
    .innerJoin('template_versions as v', 'v.id', 'r.templateVersionId')
    .where('e.ttlSeconds', 'is not', null)
    .where('e.deletedAt', 'is', null)
    .where('i.resourceCount', '>', 0)
    .where((eb) => sql<boolean>`${endOfLife(eb)} <= clock_timestamp() + make_interval(secs => ${withinSeconds})`)
    .where((eb) =>
      eb.or([
        sql<boolean>`${eb.ref('v.spec')} #>> '{executor,kind}' <> 'command'`,
        sql<boolean>`${eb.ref('v.spec')} #> '{executor,destroy}' is not null`,
      ]),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('runs as x')
            .whereRef('x.instanceId', '=', 'i.id')
            // A scan does not delay the destroy: the destroy cancels it.
            .where('x.operation', '<>', 'scan')
            .where((other) =>
              other.or([
                other('x.finishedAt', 'is', null),
                other.and([
                  other('x.requestedByType', '=', 'system'),
                  other('x.createdAt', '>=', other.ref('r.finishedAt')),
                ]),
              ]),
            )
            .select('x.id'),
        ),
      ),
    )
    .select(['i.id', 'i.templateId', 'e.id as environmentId', 'r.id as deployedRunId']);
}
