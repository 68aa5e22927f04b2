import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import type { OutputRead } from './model.ts';

/** An instance that was deployed with outputs of another one. */
export interface Dependent {
  readonly id: string;
  readonly name: string;
  readonly environmentId: string | null;
  readonly environment: string | null;
  readonly teamId: string | null;
  readonly runId: string;
  readonly reads: readonly OutputRead[];
}

export interface Dependents {
  /** Those that the principal may read, by name. */
  readonly shown: readonly Dependent[];
  /** How many others there are. */
  readonly others: number;
}

/** The maximum number of dependents that are listed. */
const maxShown = 100;

/** The deployed instances whose deployment used outputs of this one. It leaves out the instance itself, which may use its own outputs. */
function selectDependents(em: Em, sourceId: string) {
  const read = JSON.stringify([{ instanceId: sourceId }]);
  return db(em)
    .selectFrom('runs as r')
    .innerJoin('instances as i', (join) =>
      join.onRef('i.id', '=', 'r.instanceId').onRef('i.deployedRunId', '=', 'r.id'),
    )
    .leftJoin('environments as e', 'e.id', 'i.environmentId')
    .where('r.reads', 'is not', null)
    .where(({ ref }) => sql<boolean>`${ref('r.reads')} @> ${read}::jsonb`)
    .where('r.operation', '<>', 'destroy')
    .where('i.id', '<>', sourceId)
    .where('i.deletedAt', 'is', null);
}

export async function findDependents(em: Em, sourceId: string, principal: Principal): Promise<Dependents> {
  const [rows, counted] = await Promise.all([
    selectDependents(em, sourceId)
      .where((eb) => isInReadableTeam(principal, eb.ref('i.teamId'), 'hidden'))
      .orderBy('e.name')
      .orderBy('i.name')
      .orderBy('i.id')
      .limit(maxShown)
      .select(['i.id', 'i.name', 'i.environmentId', 'e.name as environment', 'i.teamId', 'r.id as runId', 'r.reads'])
      .execute(),
    selectDependents(em, sourceId)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
  ]);
  const shown = rows.map(({ reads, ...row }) => ({
    ...row,
    reads: (reads ?? []).filter(({ instanceId }) => instanceId === sourceId),
  }));
  return { shown, others: Number(counted.count) - shown.length };
}

/** The ids of the instances that were deployed with outputs of this one, in their order: those after one of them, or the first ones. */
export async function findDependentIds(
  em: Em,
  sourceId: string,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<string[]> {
  const rows = await selectDependents(em, sourceId)
    .$if(after !== null, (query) => query.where('i.id', '>', after ?? ''))
    .orderBy('i.id')
    .limit(limit)
    .select('i.id')
    .execute();
  return rows.map(({ id }) => id);
}

/** The instance of a name in an environment or, outside all environments, of a template, if it exists. */
export async function findInstanceNamed(
  em: Em,
  place: { readonly environmentId: string } | { readonly templateId: string },
  name: string,
): Promise<string | undefined> {
  const named = db(em).selectFrom('instances').where('name', '=', name).where('deletedAt', 'is', null).select('id');
  const found =
    'environmentId' in place
      ? named.where('environmentId', '=', place.environmentId)
      : named.where('environmentId', 'is', null).where('templateId', '=', place.templateId);
  return (await found.executeTakeFirst())?.id;
}

/** The run by which an instance is deployed now, with what it read; undefined: it read nothing, or nothing is deployed. */
export function findReadingDeployment(em: Em, instanceId: string) {
  return db(em)
    .selectFrom('instances as i')
    .innerJoin('runs as r', 'r.id', 'i.deployedRunId')
    .where('i.id', '=', instanceId)
    .where('r.reads', 'is not', null)
    .where('r.operation', '<>', 'destroy')
    .select(['r.id as runId', 'r.reads', 'r.sealedInputs', 'i.environmentId', 'i.teamId'])
    .executeTakeFirst();
}
