import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { toolNames, type VersionedTool } from '#domain/tools/model.ts';
import { compareVersions } from '#domain/tools/ranges.ts';
import { isOpenTo } from './pools/model.ts';
import { takesWork } from './store.ts';

/** A tool that workers offer. */
export interface OfferedTool extends VersionedTool {
  /** The number of workers that have it. */
  readonly workers: number;
}

/** The tools of some workers by name, the highest version of each first. */
export function countTools(workers: readonly { readonly tools: readonly VersionedTool[] }[]): OfferedTool[] {
  const counted = new Map<string, OfferedTool>();
  const known: readonly string[] = toolNames;
  for (const { name, version } of workers.flatMap(({ tools }) => tools)) {
    if (!known.includes(name)) continue;
    const key = `${name} ${version}`;
    counted.set(key, { name, version, workers: (counted.get(key)?.workers ?? 0) + 1 });
  }
  return [...counted.values()].sort(
    (one, other) => one.name.localeCompare(other.name, 'en') || compareVersions(other.version, one.version),
  );
}

/** Who uses pools. */
export interface PoolUser {
  readonly teamId: string | null;
  readonly environmentId: string | null;
}

/** The tools of the workers whose pools are open to a team and an environment. */
export async function findOfferedTools(em: Em, user: PoolUser): Promise<OfferedTool[]> {
  const [workers, pools] = await Promise.all([
    db(em).selectFrom('workers as w').where(takesWork).select(['w.pools', 'w.tools']).execute(),
    db(em).selectFrom('worker_pools').select(['name', 'teamIds', 'environmentIds']).execute(),
  ]);
  const rules = new Map(pools.map((pool) => [pool.name, pool]));
  return countTools(workers.filter((worker) => worker.pools.some((name) => isOpenTo(rules.get(name) ?? null, user))));
}
