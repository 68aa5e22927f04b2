import { isFinalReason } from '#domain/shared/vocabulary/run-reasons.ts';
import { longestBackoffSeconds } from '../../model.ts';
import type { NodeFacts, NodeRun } from './node-facts.ts';

/**
 * How many seconds after the end of its run a node is tried again; null: it is not. A run that may have changed more than anything
 * records is repeated only if its template declares that this is safe.
 */
export function findRetryDelay(
  { retry, attempts }: Pick<NodeFacts, 'retry' | 'attempts'>,
  run: NodeRun,
): number | null {
  if (!retry || attempts >= retry.attempts) return null;
  if (run.statusReason && isFinalReason(run.statusReason)) return null;
  if (run.isUncertain && !run.retrySafe) return null;
  return Math.min(longestBackoffSeconds, retry.backoffSeconds * 2 ** Math.max(0, attempts - 1));
}
