import type { Em } from '#database/database.ts';
import { readSettings } from '#domain/settings/store.ts';
import { isToolAllowed } from '#domain/settings/tools.ts';
import { meetsDemand, type ToolDemand } from '#domain/tools/demand.ts';
import type { VersionedTool } from '#domain/tools/model.ts';
import { isOpenTo } from '#domain/workers/pools/model.ts';
import { readPoolAccess } from '#domain/workers/pools/store.ts';
import { findCheckingWorkers } from './store.ts';

/** Whether a tool may check: the demand and the settings allow it. */
export async function readUsable(em: Em, demand: ToolDemand | null): Promise<(tool: VersionedTool) => boolean> {
  const allowed = (await readSettings(em)).document.allowed_tools;
  return (tool) => meetsDemand(demand, tool) && isToolAllowed(allowed, tool);
}

/** The kinds of tools that may run a version and that a worker of the pool has. */
export async function readKinds(em: Em, pool: string, isUsable: (tool: VersionedTool) => boolean): Promise<string[]> {
  const workers = await findCheckingWorkers(em, pool);
  return [...new Set(workers.flatMap(({ tools }) => tools.filter(isUsable).map(({ name }) => name)))];
}

interface Checked {
  readonly pool: string;
  readonly demand: ToolDemand | null;
  /** The team of the template. */
  readonly teamId: string | null;
}

/** Why no worker can check now, as a sentence without a full stop; null if one can. */
export async function findNoWorker(em: Em, { pool, demand, teamId }: Checked): Promise<string | null> {
  if (!isOpenTo(await readPoolAccess(em, pool), { teamId, environmentId: null }))
    return `the pool "${pool}" is not open to all environments of the template's owner`;
  const workers = await findCheckingWorkers(em, pool);
  if (workers.length === 0) return `no worker of the pool "${pool}" that contains template code is there`;
  if (demand === null) return null;
  const isUsable = await readUsable(em, demand);
  if (workers.some(({ tools }) => tools.some(isUsable))) return null;
  return `no worker of the pool "${pool}" has a tool that may run the version`;
}
