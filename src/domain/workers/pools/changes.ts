import type { Expression } from 'kysely';
import type { Em } from '#database/database.ts';
import { brokenConstraint } from '#database/errors.ts';
import { readForChange } from '#database/row-lock.ts';
import { readSettings } from '#domain/settings/store.ts';
import { isPlatformAdministrator } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { type Refusal, throwIfRefused } from '#domain/shared/actions.ts';
import { Conflict, Forbidden, invalidField, refuseFields } from '#domain/shared/errors.ts';
import { findDeletionRefusal, type ShowsNames } from '#domain/shared/ownership-graph/blockers.ts';
import { enumerate } from '#domain/shared/ownership-graph/names.ts';
import { type Difference, findDifference, readBack, refuseStale } from '#domain/shared/revisions.ts';
import { defaultPool } from '#domain/shared/vocabulary/pools.ts';
import { WorkerPool } from '../entity.ts';
import { defaultEgress, type Egress, findListProblem } from './egress.ts';
import type { PoolAccess, PoolRules } from './model.ts';
import { findReadableEnvironments, findReadableTeams } from './readable-store.ts';
import { chooseFirstRevision, type PoolDetails, type PoolTarget, readPool, removePool } from './store.ts';

export interface NewPool extends PoolRules {
  readonly name: string;
}

/** Absent fields stay as they are. An egress of null restores the default. */
export interface PoolChange {
  readonly teamIds?: PoolRules['teamIds'] | undefined;
  readonly environmentIds?: PoolRules['environmentIds'] | undefined;
  readonly isolation?: PoolRules['isolation'] | undefined;
  readonly maxTeamPercent?: number | undefined;
  readonly maxPersonPercent?: number | undefined;
  readonly egress?: { [Field in keyof Egress]?: Egress[Field] | undefined } | null | undefined;
  /** The change is refused if the pool now has another revision. */
  readonly expectedRevision?: number | undefined;
}

/**
 * Creates a pool. If workers already serve a pool of that name, or runs already use it, this gives it rules.
 * @throws Conflict if the name is taken
 * @throws Unprocessable naming the teams and environments that do not exist
 */
export async function createPool(em: Em, principal: Principal, { name, ...rules }: NewPool): Promise<PoolDetails> {
  await refuseUnknown(em, principal, rules);
  em.create(WorkerPool, { name, ...rules, revision: await chooseFirstRevision(em) }, { persist: true });
  try {
    await em.flush();
  } catch (error) {
    if (brokenConstraint(error) !== 'worker_pools_pkey') throw error;
    throw new Conflict(
      `name: the worker pool "${name}" exists already: update it, or choose another name`,
      'name_taken',
    );
  }
  return readBack(readPool(em, principal, name));
}

/**
 * Changes the rules of a pool that the change contains and keeps the rest. The caller has locked the row. Runs that wait for the pool are
 * checked against the new rules before they begin.
 * @throws Conflict for a stale revision, or a pool that no operator has created
 * @throws Invalid if the list of egress does not fit its policy
 * @throws Forbidden if a list to be replaced contains ids that the caller may not read, because the caller would remove them unknowingly
 */
export async function updatePool(
  em: Em,
  principal: Principal,
  target: PoolTarget,
  { expectedRevision, egress, ...wanted }: PoolChange,
): Promise<{ updated: PoolDetails; difference: Difference<PoolRules> }> {
  refuseStale({ revision: refuseUncreated(target) }, expectedRevision);
  const current = rulesOf(target);
  const merged = egress === undefined ? undefined : mergeEgress(current.egress, egress);
  const difference = findDifference<PoolRules>(current, { ...wanted, egress: merged });
  const seen = await readBack(readPool(em, principal, target.name));
  if (difference.isEmpty) return { updated: seen, difference };
  refuseUnseen(difference.after, target, seen);
  await refuseUnknown(em, principal, addedBy(difference.after, target));
  const pool = await readForChange(em, WorkerPool, { name: target.name });
  pool.changeRules(difference.after);
  await em.flush();
  return { updated: await readBack(readPool(em, principal, target.name)), difference };
}

/**
 * Deletes a pool that nothing needs; the caller has locked the row.
 * @throws Conflict for a stale revision, or naming everything that blocks the deletion
 */
export async function deletePool(em: Em, principal: Principal, pool: PoolTarget, expected?: number): Promise<void> {
  const { name } = pool;
  throwIfRefused(await findRequiredRefusal(em, name));
  refuseStale({ revision: refuseUncreated(pool) }, expected);
  throwIfRefused(await findPoolDeletionRefusal(em, principal, name));
  await removePool(em, name);
}

/** Why a pool cannot be deleted now; null if it can. */
export async function findPoolDeletionRefusal(em: Em, principal: Principal, name: string): Promise<Refusal | null> {
  const subject = `the worker pool "${name}"`;
  const wording = { subject, showsNames: namesShownTo(principal) };
  return (await findRequiredRefusal(em, name)) ?? (await findDeletionRefusal(em, 'worker_pool', name, wording));
}

async function findRequiredRefusal(em: Em, name: string): Promise<Refusal | null> {
  if (name !== defaultPool && name !== (await readSettings(em)).document.default_pool) return null;
  const message = `the worker pool "${name}" cannot be deleted: templates that name no pool use it`;
  return { code: 'pool_required', message };
}

/** A person who manages pools may read the workers. A conflict names only the runs that this person may read. */
function namesShownTo(principal: Principal): ShowsNames {
  return (kind, row) => {
    if (kind === 'run') return isInReadableTeam(principal, row('teamId') as Expression<string | null>, 'visible');
    return kind === 'worker' || isPlatformAdministrator(principal);
  };
}

/** Only the rules of a pool. */
export function rulesOf(pool: PoolRules): PoolRules {
  const { teamIds, environmentIds, isolation, egress, maxTeamPercent, maxPersonPercent } = pool;
  return { teamIds, environmentIds, isolation, egress, maxTeamPercent, maxPersonPercent };
}

function refuseUncreated({ name, revision }: PoolTarget): number {
  if (revision !== null) return revision;
  throw new Conflict(
    `no operator has created the worker pool "${name}", so it has no rules: create it first`,
    'pool_without_rules',
  );
}

/** @throws Invalid if the policy and the list no longer fit each other */
function mergeEgress(current: Egress, change: NonNullable<PoolChange['egress']> | null): Egress {
  if (change === null) return defaultEgress;
  const merged = { policy: change.policy ?? current.policy, allow: change.allow ?? current.allow };
  const problem = findListProblem(merged);
  if (problem) throw invalidField('egress.allow', problem);
  return merged;
}

type Lists = Partial<PoolAccess>;
const lists = {
  teamIds: { field: 'team_ids', kind: 'team', findReadable: findReadableTeams },
  environmentIds: { field: 'environment_ids', kind: 'environment', findReadable: findReadableEnvironments },
} as const;
const listNames = ['teamIds', 'environmentIds'] as const;

/** A list is replaced as a whole, so only a caller who may read all its entries may replace it. */
function refuseUnseen(after: Lists, pool: PoolTarget, seen: PoolRules): void {
  for (const list of listNames) {
    if (after[list] === undefined || seen[list]?.length === pool[list]?.length) continue;
    throw new Forbidden(`${lists[list].field}: the pool names others that you may not read`);
  }
}

/**
 * The ids that a change adds. The others are not checked, because teams and environments that the pool already names may have been deleted
 * since.
 */
function addedBy(after: Lists, pool: PoolTarget): Lists {
  const added = (list: (typeof listNames)[number]) => after[list]?.filter((id) => !pool[list]?.includes(id)) ?? null;
  return { teamIds: added('teamIds'), environmentIds: added('environmentIds') };
}

/** @throws Unprocessable naming the ids that do not exist or that the caller may not read */
async function refuseUnknown(em: Em, principal: Principal, given: Lists): Promise<void> {
  for (const list of listNames) {
    const ids = given[list] ?? [];
    if (ids.length === 0) continue;
    const { field, kind, findReadable } = lists[list];
    const found = new Set(await findReadable(em, principal, ids));
    const unknown = ids.filter((id) => !found.has(id));
    if (unknown.length > 0)
      throw refuseFields('unknown_reference', [{ path: field, problem: `there is no ${kind} ${enumerate(unknown)}` }]);
  }
}
