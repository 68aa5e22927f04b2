import type { Em } from '#database/database.ts';
import { brokenConstraint, pgArray } from '#database/errors.ts';
import { defaultPool } from '#domain/runs/model.ts';
import { isPlatformAdministrator, readableTeamsSql } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { Conflict, Forbidden, invalidField, Unprocessable } from '#domain/shared/errors.ts';
import { refuseDeletion } from '#domain/shared/ownership-graph/blockers.ts';
import { enumerate } from '#domain/shared/ownership-graph/names.ts';
import { type Difference, findDifference, readBack, refuseStale } from '#domain/shared/revisions.ts';
import { tenancy } from '#domain/tenancy/archiving.ts';
import { defaultEgress, type Egress, findMismatch } from './model.ts';
import type { CreatePool, UpdatePool } from './pool-model.ts';
import { type PoolTarget, type PoolView, readPool } from './pool-reads.ts';
import type { PoolRules } from './pools.ts';

/**
 * Creates a pool. One that workers already serve, or runs already use, gets its rules by that.
 * @throws Conflict where the name is taken
 * @throws Unprocessable naming teams and environments that there are not
 */
export async function createPool(em: Em, principal: Principal, request: CreatePool): Promise<PoolView> {
  const { name, team_ids, environment_ids, isolation, egress } = request;
  await refuseUnknown(em, principal, request);
  const values = [
    jsonOrNull(team_ids),
    jsonOrNull(environment_ids),
    isolation,
    JSON.stringify(egress ?? defaultEgress),
  ];
  try {
    await em.execute(
      `insert into worker_pools (name, team_ids, environment_ids, isolation, egress, created_at)
       values (?, ?, ?, ?, ?, clock_timestamp())`,
      [name, ...values],
    );
  } catch (error) {
    if (brokenConstraint(error) !== 'worker_pools_pkey') throw error;
    throw new Conflict(`name: the worker pool "${name}" exists already: change it with PATCH, or choose another name`);
  }
  return readBack(readPool(em, principal, name));
}

/**
 * Changes what is given about a pool and keeps the rest; the caller has locked the row. Runs that wait for the pool are
 * judged by its new rules before they begin.
 * @throws Conflict for a stale revision, or a pool that nobody has created
 * @throws Invalid where the list of egress does not fit its policy
 * @throws Forbidden where a list holds something that the caller may not read, and so would lose unseen
 */
export async function updatePool(
  em: Em,
  principal: Principal,
  pool: PoolTarget,
  { expected_revision: expected, egress, ...wanted }: UpdatePool,
): Promise<{ updated: PoolView; difference: Difference<PoolRules> }> {
  const revision = refuseUncreated(pool);
  refuseStale({ revision }, expected);
  const current = describePool(pool);
  const reach = egress === undefined ? undefined : mergeEgress(current.egress, egress);
  const difference = findDifference<PoolRules>(current, { ...wanted, egress: reach });
  const seen = await readBack(readPool(em, principal, pool.name));
  if (difference.isEmpty) return { updated: seen, difference };
  refuseUnseen(difference.after, pool, seen);
  await refuseUnknown(em, principal, withoutKnown(difference.after, pool));
  const after = { ...current, ...difference.after };
  await em.execute(
    `update worker_pools set team_ids = ?, environment_ids = ?, isolation = ?, egress = ?, revision = revision + 1
      where name = ?`,
    [
      jsonOrNull(after.team_ids),
      jsonOrNull(after.environment_ids),
      after.isolation,
      JSON.stringify(after.egress),
      pool.name,
    ],
  );
  return { updated: await readBack(readPool(em, principal, pool.name)), difference };
}

/**
 * Deletes a pool that nothing needs; the caller has locked the row.
 * @throws Conflict for a stale revision, or naming everything that stands in the way
 */
export async function deletePool(em: Em, principal: Principal, pool: PoolTarget, expected?: number): Promise<void> {
  const { name } = pool;
  if (name === defaultPool)
    throw new Conflict(`the worker pool "${name}" cannot be deleted: templates that name no pool use it`);
  refuseStale({ revision: refuseUncreated(pool) }, expected);
  const subject = `the worker pool "${name}"`;
  await refuseDeletion(em, 'worker_pool', name, { subject, showsNames: isPlatformAdministrator(principal) });
  await em.execute(`delete from worker_pools where name = ?`, [name]);
}

/** What may be changed about a pool, as it is. */
export function describePool({ team_ids, environment_ids, isolation, egress }: PoolRules): PoolRules {
  return { team_ids, environment_ids, isolation, egress };
}

function refuseUncreated({ name, revision }: PoolTarget): number {
  if (revision !== null) return revision;
  throw new Conflict(`nobody has created the worker pool "${name}", so it has no rules: create it with POST first`);
}

/** What is left out of egress stays. @throws Invalid where policy and list do not fit any more */
function mergeEgress(current: Egress, change: Partial<Egress> | null): Egress {
  if (change === null) return defaultEgress;
  const merged = { policy: change.policy ?? current.policy, allow: change.allow ?? current.allow };
  const problem = findMismatch(merged);
  if (problem) throw invalidField('egress.allow', problem);
  return merged;
}

type Lists = Partial<Pick<PoolRules, 'team_ids' | 'environment_ids'>>;
const listNames = ['team_ids', 'environment_ids'] as const;

/** A list is replaced as a whole, which is for those who see all of it. */
function refuseUnseen(after: Lists, pool: PoolTarget, seen: PoolRules): void {
  for (const list of listNames) {
    if (after[list] === undefined || seen[list]?.length === pool[list]?.length) continue;
    throw new Forbidden(`permission denied: ${list}: the pool names others that you may not read`);
  }
}

/** The ids that a change adds: what a pool has named so far may be deleted meanwhile. */
function withoutKnown(after: Lists, pool: PoolTarget): Lists {
  const added = (list: (typeof listNames)[number]) => after[list]?.filter((id) => !pool[list]?.includes(id)) ?? null;
  return { team_ids: added('team_ids'), environment_ids: added('environment_ids') };
}

/** Selects the ids, as `id`, of what is there. */
const present = {
  team_ids: `select t.id from teams t join organizations o on o.id = t.organization_id where ${tenancy('team').present}`,
  environment_ids: `select e.id from environments e join projects p on p.id = e.project_id join teams t on t.id = p.team_id
                      join organizations o on o.id = t.organization_id where ${tenancy('environment').present}`,
};
const kinds = { team_ids: 'team', environment_ids: 'environment' };
const aliases = { team_ids: 't.id', environment_ids: 'e.id' };

/** @throws Unprocessable naming the ids that name nothing which the caller may read */
async function refuseUnknown(em: Em, principal: Principal, lists: Lists): Promise<void> {
  const readable = readableTeamsSql(principal, 't.id', 'hidden');
  for (const list of listNames) {
    const ids = lists[list] ?? [];
    if (ids.length === 0) continue;
    const rows = await em.execute<{ id: string }[]>(
      `${present[list]} and ${aliases[list]} = any(?::uuid[]) and ${readable.sql}`,
      [pgArray(ids), ...readable.params],
    );
    const found = new Set(rows.map(({ id }) => id));
    const unknown = ids.filter((id) => !found.has(id));
    if (unknown.length > 0) throw new Unprocessable(`${list}: there is no ${kinds[list]} ${enumerate(unknown)}`);
  }
}

function jsonOrNull(ids: readonly string[] | null): string | null {
  return ids && JSON.stringify(ids);
}
