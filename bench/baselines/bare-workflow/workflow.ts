import { proxyActivities } from '@temporalio/workflow';
import type { BareActivities, BareKind } from './activities.ts';

const { runPhase } = proxyActivities<BareActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumAttempts: 1 },
});

/** The minimum that two phases need: two activities, one after the other. */
export async function bare(kind: BareKind): Promise<void> {
  const planned = await runPhase({ kind, phase: 'plan', planned: null });
  await runPhase({ kind, phase: 'apply', planned });
}
