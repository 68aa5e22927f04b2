import { isDeepStrictEqual } from 'node:util';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { refuseStale } from '#domain/shared/revisions.ts';
import { type Attachments, findBelowOwner, readAttachedIds, writeAttachments } from './attachments-store.ts';
import { countChange, type VariableSetTarget } from './store.ts';

/** To how many projects and environments a set can be attached. */
export const maxAttachments = 500;

/**
 * Attaches a set to these projects and environments and to no others. Each must be below the set's owner. The caller has locked the set.
 * @throws Invalid naming the ids below the owner that do not exist; Conflict for a stale revision or an archived owner
 */
export async function replaceAttachments(
  { em }: Transaction,
  target: VariableSetTarget,
  wanted: Attachments & { readonly expectedRevision?: number | undefined },
): Promise<{ before: ChangedAttachments; after: ChangedAttachments }> {
  const { set } = target;
  refuseArchived(target);
  refuseStale(set, wanted.expectedRevision);
  const found = await findBelowOwner(em, set, wanted);
  refuseUnknown('project_ids', wanted.projectIds, found.projectIds);
  refuseUnknown('environment_ids', wanted.environmentIds, found.environmentIds);
  const { voided, effective: before } = await readAttachedIds(em, set.id);
  // Naming a place again attaches it again after a transfer has voided its attachment. A void attachment gave no variables, so the audit
  // does not list it as attached before.
  if (voided === null && isDeepStrictEqual(before, found)) return { before, after: before };
  await writeAttachments(em, set.id, found);
  await countChange(em, set);
  if (voided === null) return { before, after: found };
  return { before: { ...before, void: voided }, after: { ...found, void: { projectIds: [], environmentIds: [] } } };
}

/** What the audit records of a change. It lists void attachments, which gave no variables, separately. */
type ChangedAttachments = Attachments & { readonly void?: Attachments };

/** Ids below other owners get the same answer as ids that do not exist. */
function refuseUnknown(field: string, wanted: readonly string[], found: readonly string[]): void {
  const missing = [...wanted].findIndex((id) => !found.includes(id));
  if (missing < 0) return;
  const what = field === 'project_ids' ? 'project' : 'environment';
  throw new Invalid(`${field}[${missing}]: the owner of the set has no such ${what}: name one that belongs to it`);
}
