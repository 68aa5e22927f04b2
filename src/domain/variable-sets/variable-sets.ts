import { brokenConstraint } from '#database/errors.ts';
import type { RowOwner } from '#domain/owners/owner.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Conflict, Invalid } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import { type Difference, findDifference, refuseStale } from '#domain/shared/revisions.ts';
import { VariableSet } from './entity.ts';
import type { VariableSetTarget } from './store.ts';

interface Described {
  readonly name: string;
  readonly description: string;
}

export interface VariableSetChange {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly expectedRevision?: number | undefined;
}

/**
 * Makes an empty set. The caller has locked the owner.
 * @throws Invalid without an owner; Conflict if the owner is archived or has another set of that name
 */
export async function createVariableSet(
  { em }: Transaction,
  owner: RowOwner,
  described: Described,
): Promise<VariableSet> {
  if (owner.organizationId === null)
    throw new Invalid('organization_id: name the organization, the team or the project that owns the set');
  refuseArchived(owner);
  const set = em.create(VariableSet, { id: newId(), ...owner.columns, ...described });
  await reportingTakenName(described.name, () => em.persist(set).flush());
  return set;
}

/** Changes the name or the description. @throws Conflict for a stale revision, an archived owner, or a name that is taken */
export async function updateVariableSet(
  { em }: Transaction,
  target: VariableSetTarget,
  { expectedRevision, ...wanted }: VariableSetChange,
): Promise<Difference<Described>> {
  const { set } = target;
  refuseArchived(target);
  refuseStale(set, expectedRevision);
  const { name, description } = set;
  const difference = findDifference<Described>({ name, description }, wanted);
  if (difference.isEmpty) return difference;
  Object.assign(set, difference.after, { revision: set.revision + 1 });
  await reportingTakenName(set.name, () => em.flush());
  return difference;
}

/** Deletes a set with its variables. Runs that were admitted keep what it gave them. @throws Conflict for a stale revision */
export async function deleteVariableSet(
  { em }: Transaction,
  { set }: VariableSetTarget,
  expectedRevision: number | undefined,
): Promise<number> {
  refuseStale(set, expectedRevision);
  await em.remove(set).flush();
  return set.revision;
}

async function reportingTakenName(name: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (brokenConstraint(error) !== 'variable_sets_name_unique') throw error;
    throw new Conflict(`name: the owner has a variable set "${name}" already: choose another name`, 'name_taken');
  }
}
