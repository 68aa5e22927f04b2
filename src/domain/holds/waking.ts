import type { Transactions } from '#domain/shared/commands/transaction.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import { zeroId } from '#domain/shared/ids.ts';
import { holdCodes } from '#domain/shared/vocabulary/holds.ts';
import { wakeSignal } from '#domain/shared/vocabulary/runs.ts';
import type { WaitingCode } from '#domain/shared/vocabulary/waiting.ts';
import { findHeldRuns } from './store.ts';

const pageSize = 200;

/**
 * Wakes the runs that wait for the end of a hold, or for approvals that a changed policy may no longer demand, so that each checks again. A
 * run that still has to wait continues to wait, so this may be repeated.
 */
export async function wakeHeldRuns(
  transactions: Transactions,
  { type, subject }: Pick<PublishedEvent, 'type' | 'subject'>,
): Promise<void> {
  const environmentId = subject.kind === 'environment' ? subject.id : null;
  const codes: readonly WaitingCode[] =
    type === 'environment.protection_changed' ? [...holdCodes, 'approval'] : holdCodes;
  for (let after: string | undefined = zeroId; after !== undefined; ) {
    const from: string = after;
    const woken = await transactions.run(async (tx) => {
      const runs = await findHeldRuns(tx.em, { environmentId, codes, after: from, limit: pageSize });
      for (const { workflowId } of runs) tx.notifyEngine(workflowId, { kind: 'signal', signal: wakeSignal });
      return runs;
    });
    after = woken.length < pageSize ? undefined : woken.at(-1)?.id;
  }
}
