import { z } from 'zod';
import { seesPools } from '#api/workers/pool-operations.ts';
import { describeTool } from '#api/workers/tool-words.ts';
import type { Em } from '#database/database.ts';
import type { CheckFinding } from '#domain/registry/checks/model.ts';
import type { PublishedVersion } from '#domain/registry/publication/published.ts';
import { readWorkerFit, type WorkerFit } from '#domain/registry/tools/worker-fit.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';

const RangeView = z.object({ name: z.string(), version: z.string().describe('A range; empty: any version.') });
const OfferedView = z.object({ name: z.string(), version: z.string(), workers: z.int() });

export const WorkerFitView = z
  .object({
    pool: z.string(),
    wanted: z.array(RangeView).describe('A worker must have one of these tools; empty: any tool will do.'),
    tool: z
      .object({ name: z.string(), version: z.string() })
      .nullable()
      .describe('What a run would use now; null: no worker of the pool has a tool that fits.'),
    workers: z.int().describe('How many workers of the pool have that tool.'),
    offered: z.array(OfferedView).describe('What the workers of the pool have.'),
  })
  .meta({ id: 'TemplateVersionWorkers' });

export type ShownFit = z.output<typeof WorkerFitView>;

/** Which workers could execute the runs of a version now, as far as the principal may see them. */
export async function readFit(
  em: Em,
  principal: Principal,
  owner: Ownership,
  version: Pick<PublishedVersion, 'spec' | 'filesTools'>,
): Promise<ShownFit | null> {
  const fit = await readWorkerFit(em, version, { owner, seesPools: seesPools(principal) });
  return fit && viewFit(fit);
}

function viewFit({ pool, wanted, tool, offered }: WorkerFit): ShownFit {
  return {
    pool,
    wanted: [...wanted],
    tool: tool && { name: tool.name, version: tool.version },
    workers: tool?.workers ?? 0,
    offered: [...offered],
  };
}

/** The suitable tools in words, such as `OpenTofu ~> 1.9 or Terraform`. */
export function describeWanted({ wanted }: Pick<ShownFit, 'wanted'>): string {
  return wanted.length === 0 ? 'OpenTofu or Terraform' : wanted.map(describeTool).join(' or ');
}

/** The tools of the workers, in words. */
export function describeOffered({ offered }: Pick<ShownFit, 'offered'>): string {
  return offered.length === 0
    ? 'no worker with a tool is running'
    : `its workers have ${offered.map(describeTool).join(', ')}`;
}

/** Warns a publisher if no worker can execute the version. */
export function warningsOfFit(fit: ShownFit | null): CheckFinding[] {
  if (fit === null || fit.tool !== null) return [];
  const message = `no worker of the pool ${fit.pool} has ${describeWanted(fit)}, so runs will wait; ${describeOffered(fit)}`;
  return [{ path: fit.wanted.length === 0 ? '/pool' : '/tool', message }];
}
