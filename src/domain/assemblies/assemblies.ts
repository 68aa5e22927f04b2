import type { Expression } from 'kysely';
import type { Em } from '#database/database.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import type { Refusal } from '#domain/shared/actions.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { newId } from '#domain/shared/ids.ts';
import { archive, unarchive } from '#domain/shared/ownership-graph/archiving.ts';
import { findArchivingRefusal, findDeletionRefusal, type ShowsNames } from '#domain/shared/ownership-graph/blockers.ts';
import { deleteOwned } from '#domain/shared/ownership-graph/deletion.ts';
import { reportingSlugConflict } from '#domain/shared/ownership-graph/slugs.ts';
import { pick, refuseStale } from '#domain/shared/revisions.ts';
import type { TeamTarget } from '#domain/teams/store.ts';
import type { ChangeOf, NewNamed } from '#domain/tenancy/model.ts';
import { chooseSlug } from '#domain/tenancy/slugs.ts';
import { Assembly, type AssemblyFields } from './entity.ts';
import { assemblyFields } from './model.ts';
import type { AssemblyTarget } from './store.ts';

/** How a refused deletion or archiving shows what uses the assembly: names that the principal may read, and the number of the others. */
function namesShownTo(principal: Principal): ShowsNames {
  return (_kind, row) => isInReadableTeam(principal, row('teamId') as Expression<string | null>, 'hidden');
}

/** Creates an assembly of a team, whose row the caller has locked. @throws Conflict */
export async function createAssembly(
  tx: Transaction,
  team: TeamTarget,
  request: NewNamed<AssemblyFields>,
): Promise<Assembly> {
  refuseArchived(team);
  const slug = chooseSlug(request);
  const assembly = tx.em.create(Assembly, { ...pick(request, assemblyFields), id: newId(), teamId: team.teamId, slug });
  tx.em.persist(assembly);
  await reportingSlugConflict('assembly', slug, () => tx.em.flush());
  return assembly;
}

/**
 * Changes the fields that are present; the caller has locked the row.
 * @throws Conflict for a stale revision, something archived, or a slug that is taken
 */
export async function updateAssembly(
  tx: Transaction,
  target: AssemblyTarget,
  { expectedRevision, ...wanted }: ChangeOf<AssemblyFields>,
): Promise<void> {
  const { assembly } = target;
  refuseArchived(target);
  refuseStale(assembly, expectedRevision);
  if (assembly.change(wanted)) await reportingSlugConflict('assembly', assembly.slug, () => tx.em.flush());
}

/**
 * Archives an assembly; repeating it changes nothing. The caller has locked the row. @throws Conflict while some of its runs have not ended
 */
export async function archiveAssembly({ em }: Transaction, { assembly, archived }: AssemblyTarget): Promise<void> {
  const { id, archivedAt = null } = assembly;
  if (await archive(em, 'assembly', { id, archivedAt, archived })) await em.refresh(assembly);
}

/** Makes an archived assembly active again. The caller has locked the row. @throws Conflict while its owner is archived */
export async function unarchiveAssembly({ em }: Transaction, { assembly, archived }: AssemblyTarget): Promise<void> {
  const { id, archivedAt = null } = assembly;
  if (await unarchive(em, 'assembly', { id, archivedAt, archived })) await em.refresh(assembly);
}

/**
 * Deletes an assembly that no run uses, and returns its last revision. Its slug is free again. Its versions stay, because runs name the
 * version that they ran. The caller has locked the row.
 * @throws Conflict for a stale revision, or naming what uses it: uses that the principal may not read are only counted
 */
export function deleteAssembly(
  { em }: Transaction,
  principal: Principal,
  { assembly: { id, revision } }: AssemblyTarget,
  expectedRevision: number | undefined,
): Promise<number> {
  refuseStale({ revision }, expectedRevision);
  return deleteOwned(em, 'assembly', { id }, namesShownTo(principal));
}

/** The refusals to archive and to delete an assembly at this moment; null if allowed. */
export interface AssemblyUse {
  readonly archiving: Refusal | null;
  readonly deletion: Refusal | null;
}

/** Reads what uses an assembly. */
export async function findAssemblyUse(em: Em, principal: Principal, id: string): Promise<AssemblyUse> {
  const [archiving, deletion] = await Promise.all([
    findArchivingRefusal(em, 'assembly', id),
    findDeletionRefusal(em, 'assembly', id, { showsNames: namesShownTo(principal) }),
  ]);
  return { archiving, deletion };
}
