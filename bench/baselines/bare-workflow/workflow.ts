import { executeChild, proxyActivities } from '@temporalio/workflow';
import type { BareActivities, BareKind } from './activities.ts';

const { runPhase, doNothing } = proxyActivities<BareActivities>({
  startToCloseTimeout: '1 minute',
  retry: { maximumAttempts: 1 },
});

/** The minimum that two phases need: two activities, one after the other. */
export async function bare(kind: BareKind): Promise<void> {
  const planned = await runPhase({ kind, phase: 'plan', planned: null });
  await runPhase({ kind, phase: 'apply', planned });
}

/** The minimum that a node needs: a child workflow with two activities. */
export async function bareChild(): Promise<void> {
  await doNothing();
  await doNothing();
}

/** The minimum that an assembly needs: a parent that keeps so many children running until all have ended. */
export async function bareParent(children: number, concurrency: number): Promise<void> {
  let left = children;
  const work = async () => {
    while (left > 0) {
      left -= 1;
      await executeChild(bareChild);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
}
