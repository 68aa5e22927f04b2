import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { presentEnvironments } from '#domain/environments/store.ts';
import { outputsContext } from '#domain/instances/seals.ts';
import { secretNamesOf, withSecrets } from '#domain/instances/secret-outputs.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { Readable } from './model.ts';

/** An instance that references may name. */
export interface Source extends Readable {
  readonly id: string;
  readonly projectId: string;
  readonly project: string;
  readonly environment: string;
  readonly name: string;
  readonly stateSerial: number;
  readonly deployedRunId: string | null;
  /** Whether a destroy was the last run that changed it. */
  readonly isDestroyed: boolean;
  /** The size of its sealed outputs in bytes. */
  readonly bytes: number;
}

/** The instances of environments that still exist. */
function selectSources(em: Em) {
  return presentEnvironments(db(em))
    .innerJoin('instances as i', 'i.environmentId', 'e.id')
    .leftJoin('runs as deployed', 'deployed.id', 'i.deployedRunId')
    .where('i.deletedAt', 'is', null)
    .select([
      'i.id',
      'i.name',
      'o.id as organizationId',
      't.id as teamId',
      'p.id as projectId',
      'p.slug as project',
      'e.slug as environment',
      'i.stateSerial',
      'i.deployedRunId',
      'i.readerTeamIds',
      'i.readerEnvironmentIds',
      'i.readersTeamId',
      'i.readersOrganizationId',
      'i.readersVoidSince',
    ])
    .select(({ ref }) => [
      sql<boolean>`coalesce(${ref('deployed.operation')} = 'destroy', false)`.as('isDestroyed'),
      sql<number>`coalesce(octet_length(${ref('i.sealedOutputs')}), 0)`.as('bytes'),
    ]);
}

/** The slugs that name an instance. Without a project or an environment, the name means those of the place. */
export interface SourceName {
  readonly project: string | null;
  readonly environment: string | null;
  readonly instance: string;
}

/** All instances of an organization that have one of these names. */
export async function findSources(
  em: Em,
  place: { readonly organizationId: string; readonly projectId: string | null; readonly environmentId: string | null },
  names: readonly SourceName[],
): Promise<Source[]> {
  if (names.length === 0) return [];
  return selectSources(em)
    .where('o.id', '=', place.organizationId)
    .where((eb) =>
      eb.or(
        names.map(({ project, environment, instance }) =>
          eb.and([
            environment === null ? eb('e.id', '=', place.environmentId) : eb('e.slug', '=', environment),
            eb('i.name', '=', instance),
            project === null ? eb('p.id', '=', place.projectId) : eb('p.slug', '=', project),
          ]),
        ),
      ),
    )
    .orderBy('i.id')
    .execute();
}

/** Those of the instances that exist. `lock` takes share locks on their rows until the commit, so that nobody changes their readers. */
export async function findSourcesById(em: Em, ids: readonly string[], lock: boolean): Promise<Source[]> {
  if (ids.length === 0) return [];
  const found = selectSources(em)
    .where('i.id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .orderBy('i.id');
  return (lock ? found.forShare('i') : found).execute();
}

/**
 * The outputs of an instance, secret ones included. Outputs that have become secret since they were stored are marked as well. They never
 * leave the domain unsealed.
 */
export async function openSourceOutputs(em: Em, keyRing: KeyRing, id: string): Promise<MaskedOutputs> {
  const row = await db(em)
    .selectFrom('instances as i')
    .where('i.id', '=', id)
    .select('i.sealedOutputs as sealed')
    .select(({ ref }) => secretNamesOf(ref('i.outputs'), ref('i.deployedRunId')).as('secret'))
    .executeTakeFirst();
  return row?.sealed ? withSecrets(keyRing.openJson<MaskedOutputs>(outputsContext(id), row.sealed), row.secret) : {};
}
