import { LockMode } from '@mikro-orm/core';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Run } from '../entity.ts';
import { publishRunEvent } from '../events/publish-event.ts';
import { changeStatus } from './transitions.ts';

/**
 * Cancels the scans of an instance because a run is about to change it: they would report the change as drift. The run does not wait until
 * they have stopped, since they change nothing. The caller has locked the instance.
 */
export async function cancelScans(tx: Transaction, writer: Run): Promise<void> {
  const unfinished = { instanceId: writer.instanceId, operation: 'scan', finishedAt: null } as const;
  const scans = await tx.em.find(Run, unfinished, {
    lockMode: LockMode.PESSIMISTIC_WRITE,
    orderBy: { id: 'asc' },
  });
  for (const scan of scans.filter(({ status }) => status !== 'canceling')) {
    changeStatus(tx, scan, 'canceling');
    scan.statusReason = 'gave_way';
    publishRunEvent(tx, scan, 'run.gave_way', { run_id: writer.id });
    tx.notifyEngine(scan.idempotencyKey, { kind: 'cancel' });
  }
  await tx.em.flush();
}
