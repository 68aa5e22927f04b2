import type { Em } from '#database/database.ts';
import type { Run } from '#domain/runs/entity.ts';
import { findRunToChange } from '#domain/runs/targets.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import { type Refusal, throwIfRefused } from '#domain/shared/actions.ts';
import { AssemblyNode } from '../../entity.ts';
import { findAssemblyRun } from '../targets.ts';

/** A node whose run can be reviewed. */
export interface NodeReview extends Ownership {
  readonly key: string;
  readonly status: string;
  /** Null: the node has had no run yet. */
  readonly run: Run | null;
}

/** A node by its key, with its latest run. With `lock`, the run is locked, so that concurrent reviews happen one after the other. */
export async function findNodeReview(
  em: Em,
  { assemblyId, runId, key }: { assemblyId: string; runId: string; key: string },
  lock: boolean,
): Promise<NodeReview | undefined> {
  const target = await findAssemblyRun(em, { assemblyId, runId }, false);
  const node = target && (await em.findOne(AssemblyNode, { assemblyRunId: runId, key }));
  if (!node) return undefined;
  const { organizationId, teamId } = target;
  const found = node.runId ? await findRunToChange(em, node.runId, lock) : undefined;
  return { organizationId, teamId, key, status: node.status, run: found?.run ?? null };
}

/** The refusal of every review of a node whose run does not wait for approval; null if it waits. */
export function findPendingRefusal({ key, status, run }: Reviewed): Refusal | null {
  if (run?.status === 'pending_approval') return null;
  const message = `the node "${key}" is not waiting for approval: its status is ${run?.status ?? status}`;
  return { code: 'run_not_pending_approval', message };
}

type Reviewed = Pick<NodeReview, 'key' | 'status'> & { readonly run: Pick<Run, 'status'> | null };

/** @throws ActionRefused if the node's run does not wait for approval */
export function refuseUnlessPending(review: NodeReview): Run {
  throwIfRefused(findPendingRefusal(review));
  if (!review.run) throw new Error('a node that waits for approval has a run');
  return review.run;
}
