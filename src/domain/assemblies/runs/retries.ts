import type { StatusReason } from '#domain/runs/model.ts';
import { longestBackoffSeconds } from '../model.ts';
import type { NodeFacts, NodeRun } from './node-facts.ts';

/** After these ends nobody knows how much was changed. Only a template that declares repetition safe is tried again. */
const unsafeReasons: readonly StatusReason[] = ['apply_interrupted', 'apply_timeout', 'engine_lost'];
/** People and their policies decided, or trying again would end the same way. */
const finalReasons: readonly StatusReason[] = ['approval_timeout', 'pool_closed', 'operation_unsupported'];

/** How many seconds after the end of its run a node is tried again; null: it is not. */
export function findRetryDelay({ retry, tries }: Pick<NodeFacts, 'retry' | 'tries'>, run: NodeRun): number | null {
  if (!retry || tries >= retry.attempts) return null;
  const reason = run.statusReason;
  if (reason && finalReasons.includes(reason)) return null;
  if (reason && unsafeReasons.includes(reason) && !run.retrySafe) return null;
  return Math.min(longestBackoffSeconds, retry.backoffSeconds * 2 ** Math.max(0, tries - 1));
}
