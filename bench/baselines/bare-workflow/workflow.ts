import { proxyActivities } from '@temporalio/workflow';
import type { BareActivities, BareKind } from './activities.ts';

const { act } = proxyActivities<BareActivities>({ startToCloseTimeout: '1 minute', retry: { maximumAttempts: 1 } });

/** The least that two phases of work can be: two activities, one after the other. */
export async function bare(kind: BareKind): Promise<void> {
  const planned = await act({ kind, phase: 'plan', planned: null });
  await act({ kind, phase: 'apply', planned });
}
