import type { Em } from '#database/database.ts';
import { lockRows } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import type { OwnerIds } from '#domain/owners/owner.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { newId } from '#domain/shared/ids.ts';
import { VariableSetAttachment } from './entity.ts';

/** The projects and the environments whose runs get the variables of a set. */
export interface Attachments {
  readonly projectIds: readonly string[];
  readonly environmentIds: readonly string[];
}

/** A project or an environment that a set is attached to. */
export interface Attachment {
  readonly kind: 'project' | 'environment';
  readonly id: string;
  readonly name: string;
  /** False after a transfer to other owners, even if the place was transferred back. Its runs then get no variables from the set. */
  readonly isEffective: boolean;
}

/** The attachments to places that a principal may read, with the names and the current owners of these places. */
function selectAttachments(em: Em, reader: Principal) {
  return (
    db(em)
      .selectFrom('variable_set_attachments as a')
      .leftJoin('environments as e', 'e.id', 'a.environmentId')
      .innerJoin('projects as p', (join) =>
        join.on((eb) => eb('p.id', '=', eb.fn.coalesce('a.projectId', 'e.projectId'))),
      )
      .innerJoin('teams as t', 't.id', 'p.teamId')
      .where((eb) => isInReadableTeam(reader, eb.ref('t.id'), 'hidden'))
      .select(['e.id as environmentId', 'e.name as environmentName', 'p.id as projectId', 'p.name as projectName'])
      .select('a.voidSince')
      .select(['t.id as teamId', 't.organizationId'])
      .orderBy('p.name')
      // A project comes before its environments.
      .orderBy('e.name', (order) => order.asc().nullsFirst())
      .orderBy('a.id')
  );
}

type AttachmentRow = Awaited<ReturnType<ReturnType<typeof selectAttachments>['execute']>>[number];

function toAttachment(set: OwnerIds, row: AttachmentRow): Attachment {
  const { environmentId, environmentName, projectId, projectName, voidSince, ...owner } = row;
  return {
    kind: environmentId === null ? 'project' : 'environment',
    id: environmentId ?? projectId,
    name: environmentId === null ? projectName : `${projectName} / ${environmentName}`,
    isEffective: voidSince === null && isBelow(set, { ...owner, projectId }),
  };
}

type IdentifiedSet = { readonly id: string } & OwnerIds;

/** The places to which a set is attached, ordered by name. It leaves out places that the reader may not read. */
export async function readAttachments(em: Em, set: IdentifiedSet, reader: Principal): Promise<Attachment[]> {
  const rows = await selectAttachments(em, reader).where('a.variableSetId', '=', set.id).execute();
  return rows.map((row) => toAttachment(set, row));
}

interface AttachedIds extends Attachments {
  /** Those that no transfer has voided. */
  readonly effective: Attachments;
  /** Those that a transfer has voided; null if it voided none. */
  readonly voided: Attachments | null;
}

/** The ids of the places to which a set is attached. */
export async function readAttachedIds(em: Em, setId: string): Promise<AttachedIds> {
  const rows = await db(em)
    .selectFrom('variable_set_attachments')
    .where('variableSetId', '=', setId)
    .select(['projectId', 'environmentId', 'voidSince'])
    .execute();
  const effective = rows.filter(({ voidSince }) => voidSince === null);
  const voided = rows.filter(({ voidSince }) => voidSince !== null);
  return { ...toIds(rows), effective: toIds(effective), voided: voided.length > 0 ? toIds(voided) : null };
}

function toIds(
  rows: readonly { readonly projectId: string | null; readonly environmentId: string | null }[],
): Attachments {
  return {
    projectIds: rows.flatMap(({ projectId }) => projectId ?? []).sort(),
    environmentIds: rows.flatMap(({ environmentId }) => environmentId ?? []).sort(),
  };
}

/** The first places of each set that the reader may read, by the id of the set. It leaves out sets without such places. */
export async function readFirstAttachments(
  em: Em,
  sets: readonly IdentifiedSet[],
  { reader, max }: { readonly reader: Principal; readonly max: number },
): Promise<ReadonlyMap<string, readonly Attachment[]>> {
  const ids = sets.map(({ id }) => id);
  const ranked = selectAttachments(em, reader)
    .where((eb) => eb('a.variableSetId', '=', eb.fn.any(eb.val(ids))))
    .select((eb) => [
      'a.variableSetId as setId',
      eb.fn
        .agg<string>('row_number')
        .over((over) =>
          over
            .partitionBy('a.variableSetId')
            .orderBy('p.name')
            .orderBy('e.name', (order) => order.asc().nullsFirst())
            .orderBy('a.id'),
        )
        .as('rank'),
    ]);
  const rows = await db(em)
    .selectFrom(ranked.as('x'))
    .where('x.rank', '<=', String(max))
    .select(['x.setId', 'x.environmentId', 'x.environmentName', 'x.projectId', 'x.projectName', 'x.voidSince'])
    .select(['x.teamId', 'x.organizationId'])
    .orderBy('x.rank')
    .execute();
  const bySet = new Map(sets.map((set) => [set.id, { set, attachments: [] as Attachment[] }]));
  for (const { setId, ...row } of rows) {
    const found = bySet.get(setId);
    found?.attachments.push(toAttachment(found.set, row));
  }
  return new Map(
    [...bySet]
      .filter(([, { attachments }]) => attachments.length > 0)
      .map(([id, { attachments }]) => [id, attachments]),
  );
}

function isBelow(set: OwnerIds, place: { organizationId: string; teamId: string; projectId: string }): boolean {
  if (set.projectId) return set.projectId === place.projectId;
  return set.teamId ? set.teamId === place.teamId : set.organizationId === place.organizationId;
}

/** The projects and environments that exist below the owner of a set. It locks their rows for share until the commit. */
export async function findBelowOwner(em: Em, set: OwnerIds, wanted: Attachments): Promise<Attachments> {
  const projects = db(em)
    .selectFrom('projects as p')
    .innerJoin('teams as t', 't.id', 'p.teamId')
    .where('p.deletedAt', 'is', null)
    .$if(Boolean(set.projectId), (query) => query.where('p.id', '=', set.projectId ?? ''))
    .$if(Boolean(set.teamId), (query) => query.where('t.id', '=', set.teamId ?? ''))
    .$if(Boolean(set.organizationId), (query) => query.where('t.organizationId', '=', set.organizationId ?? ''));
  const named = projects.where((eb) => eb('p.id', '=', eb.fn.any(eb.val([...wanted.projectIds]))));
  const environments = projects
    .innerJoin('environments as e', 'e.projectId', 'p.id')
    .where('e.deletedAt', 'is', null)
    .where((eb) => eb('e.id', '=', eb.fn.any(eb.val([...wanted.environmentIds]))));
  const foundProjects = await lockRows(named.select('p.id').orderBy('p.id'), ['p'], true).execute();
  const foundEnvironments = await lockRows(environments.select('e.id').orderBy('e.id'), ['e'], true).execute();
  return { projectIds: foundProjects.map(({ id }) => id), environmentIds: foundEnvironments.map(({ id }) => id) };
}

/** Replaces all attachments of a set. The caller has locked the set, and has locked the wanted places for share. */
export async function writeAttachments(em: Em, setId: string, wanted: Attachments): Promise<void> {
  await db(em).deleteFrom('variable_set_attachments').where('variableSetId', '=', setId).execute();
  const attach = (place: { projectId: string } | { environmentId: string }) =>
    em.persist(em.create(VariableSetAttachment, { id: newId(), variableSetId: setId, ...place }));
  for (const projectId of wanted.projectIds) attach({ projectId });
  for (const environmentId of wanted.environmentIds) attach({ environmentId });
  await em.flush();
}
