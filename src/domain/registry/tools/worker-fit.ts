import type { Em } from '#database/database.ts';
import { readSettings } from '#domain/settings/store.ts';
import { isToolAllowed } from '#domain/settings/tools.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { defaultPool } from '#domain/shared/vocabulary/pools.ts';
import { bestMeant, isEmptyDemand, meetsDemand, toWantedTools } from '#domain/tools/demand.ts';
import { findWorkersOfPool } from '#domain/workers/fit-store.ts';
import { countTools, type OfferedTool } from '#domain/workers/offered-tools.ts';
import { isOpenTo } from '#domain/workers/pools/model.ts';
import { readPoolAccess } from '#domain/workers/pools/store.ts';
import type { PublishedVersion } from '../publication/published.ts';
import { demandOf } from './usable-tools.ts';

/** Which workers could execute the runs of a version now. An environment or an instance may demand more. */
export interface WorkerFit {
  readonly pool: string;
  /** The tools of which a worker must have one; empty: any tool is usable. */
  readonly wanted: readonly { readonly name: string; readonly version: string }[];
  /** The tool that a run would use; null: no worker has one that fits. */
  readonly tool: OfferedTool | null;
  /** What the workers of the pool offer. */
  readonly offered: readonly OfferedTool[];
}

/**
 * Reads which workers fit a version. Null for commands, which need no tool, for a version that no tool can run, and for a pool that neither
 * the owner of the template nor the reader may use.
 */
export async function readWorkerFit(
  em: Em,
  { spec, filesTools: files }: Pick<PublishedVersion, 'spec' | 'filesTools'>,
  { owner, seesPools }: { readonly owner: Ownership; readonly seesPools: boolean },
): Promise<WorkerFit | null> {
  const demand = demandOf(spec, files);
  if (demand === null || isEmptyDemand(demand)) return null;
  const { document: settings } = await readSettings(em);
  const pool = spec.pool ?? settings.default_pool ?? defaultPool;
  if (!seesPools && !isOpenTo(await readPoolAccess(em, pool), owner)) return null;
  const offered = countTools(await findWorkersOfPool(em, { pool }));
  const usable = offered.filter((tool) => meetsDemand(demand, tool) && isToolAllowed(settings.allowed_tools, tool));
  const wanted = toWantedTools(demand);
  const isAny = wanted.length > 1 && wanted.every(({ version }) => version === '');
  return {
    pool,
    wanted: isAny ? [] : wanted,
    tool: bestMeant(demand, usable) ?? null,
    offered,
  };
}
