import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { presentEnvironments } from '#domain/environments/store.ts';
import { isInForce } from '#domain/shared/access/grant.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, type RefusedField, refuseFields } from '#domain/shared/errors.ts';
import { type Difference, findDifference, refuseStale, saveChange } from '#domain/shared/revisions.ts';
import { Instance } from '../entity.ts';
import type { InstanceTarget } from '../store.ts';

/** The teams and environments whose runs may read the outputs of an instance, including secret ones. */
export interface Readers {
  readonly teamIds: readonly string[];
  readonly environmentIds: readonly string[];
}

export interface ReadersDetails extends Readers {
  /**
   * Whether a transfer has voided the readers: nobody may read the outputs until the present owners allow it again, even if the instance
   * has returned.
   */
  readonly areVoid: boolean;
  readonly revision: number;
}

const nobody: Readers = { teamIds: [], environmentIds: [] };

/** The readers of an instance; undefined if it was deleted. */
export async function readReaders(em: Em, id: string): Promise<ReadersDetails | undefined> {
  const row = await db(em)
    .selectFrom('instances as i')
    .leftJoin('teams as t', 't.id', 'i.teamId')
    .where('i.id', '=', id)
    .where('i.deletedAt', 'is', null)
    .select([
      'i.readerTeamIds as teamIds',
      'i.readerEnvironmentIds as environmentIds',
      'i.readersTeamId as forTeam',
      'i.readersOrganizationId as forOrganization',
      'i.readersVoidSince as voidSince',
      'i.teamId',
      't.organizationId',
      'i.revision',
    ])
    .executeTakeFirst();
  if (!row) return undefined;
  const { teamIds, environmentIds, revision, voidSince } = row;
  const savedFor = { teamId: row.forTeam, organizationId: row.forOrganization };
  const areVoid = teamIds.length + environmentIds.length > 0 && !isInForce({ savedFor, voidSince }, row);
  return { teamIds, environmentIds, areVoid, revision };
}

/**
 * Sets whose runs may read the outputs of an instance. The caller has locked its row.
 * @throws Conflict for a stale revision, or an instance that no run can name
 * @throws Unprocessable naming the teams and environments that its organization does not have
 */
export async function setReaders(
  tx: Transaction,
  target: InstanceTarget,
  wanted: Readers,
  expectedRevision: number | undefined,
): Promise<{ readonly difference: Difference<Readers>; readonly revision: number }> {
  refuseStale(target, expectedRevision);
  const { id, teamId, organizationId } = target;
  if (teamId === null || organizationId === null || !(await hasEnvironment(tx.em, id))) {
    throw new Conflict(
      'the instance is in no environment, so no run can name it to read its outputs: deploy it in an environment',
      'instance_without_environment',
    );
  }
  const present = (await readReaders(tx.em, id)) ?? { ...nobody, areVoid: false };
  const before = present.areVoid ? nobody : { teamIds: present.teamIds, environmentIds: present.environmentIds };
  const after = { teamIds: unique(wanted.teamIds), environmentIds: unique(wanted.environmentIds) };
  await refuseUnknown(tx.em, organizationId, before, wanted);
  const difference = findDifference<Readers>(before, after);
  if (difference.isEmpty && !present.areVoid) return { difference, revision: target.revision };
  const revision = await saveChange(tx.em, Instance, target, {
    readerTeamIds: after.teamIds,
    readerEnvironmentIds: after.environmentIds,
    readersTeamId: teamId,
    readersOrganizationId: organizationId,
    readersVoidSince: null,
  });
  const data = { team_ids: after.teamIds, environment_ids: after.environmentIds };
  tx.publish({ type: 'instance.readers_changed', subjectId: id, owners: { teamId, organizationId }, data });
  return { difference, revision };
}

async function hasEnvironment(em: Em, id: string): Promise<boolean> {
  const row = await db(em).selectFrom('instances').where('id', '=', id).select('environmentId').executeTakeFirst();
  return typeof row?.environmentId === 'string';
}

function unique(ids: readonly string[]): string[] {
  return [...new Set(ids)];
}

/** Checks only the added ids: those that were allowed before may have been deleted since. */
async function refuseUnknown(em: Em, organizationId: string, before: Readers, wanted: Readers): Promise<void> {
  const added = (list: keyof Readers) => wanted[list].filter((id) => !before[list].includes(id));
  const [teams, environments] = await Promise.all([
    findTeams(em, organizationId, added('teamIds')),
    findEnvironments(em, organizationId, added('environmentIds')),
  ]);
  const missing = [
    ...listMissing('team_ids', 'team', wanted.teamIds, { added: added('teamIds'), found: teams }),
    ...listMissing('environment_ids', 'environment', wanted.environmentIds, {
      added: added('environmentIds'),
      found: environments,
    }),
  ];
  if (missing.length > 0) throw refuseFields('unknown_reference', missing);
}

/** The errors for ids that do not exist, with their places in the request. */
function listMissing(
  field: string,
  kind: string,
  ids: readonly string[],
  { added, found }: { readonly added: readonly string[]; readonly found: readonly { id: string }[] },
): RefusedField[] {
  const isMissing = (id: string) => added.includes(id) && !found.some((each) => each.id === id);
  const places = [...new Set(ids)].filter(isMissing).map((id) => ({ id, path: `${field}[${ids.indexOf(id)}]` }));
  return places.map(({ id, path }) => ({ path, problem: `the organization of the instance has no ${kind} ${id}` }));
}

async function findTeams(em: Em, organizationId: string, ids: readonly string[]): Promise<{ id: string }[]> {
  if (ids.length === 0) return [];
  return db(em)
    .selectFrom('teams as t')
    .where('t.organizationId', '=', organizationId)
    .where('t.deletedAt', 'is', null)
    .where('t.id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .select('t.id')
    .execute();
}

async function findEnvironments(em: Em, organizationId: string, ids: readonly string[]): Promise<{ id: string }[]> {
  if (ids.length === 0) return [];
  return presentEnvironments(db(em))
    .where('o.id', '=', organizationId)
    .where('e.id', '=', (eb) => eb.fn.any(eb.val(ids)))
    .select('e.id')
    .execute();
}
