import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Transactions } from '#domain/shared/commands/transaction.ts';
import { DriftFinding } from '../entity.ts';
import { lockMonitor } from '../monitors/monitor-target.ts';
import { publishTransition } from './publish.ts';
import { miss } from './transitions.ts';

/** Resolves the findings of an instance that a run has destroyed: nothing is left that could deviate. */
export async function resolveDestroyed(
  transactions: Transactions,
  em: Em,
  { instanceId, runId }: { readonly instanceId: string; readonly runId: string },
): Promise<void> {
  const monitor = await db(em)
    .selectFrom('drift_monitors')
    .where('instance_id', '=', instanceId)
    .where('deleted_at', 'is', null)
    .select('id')
    .executeTakeFirst();
  if (!monitor) return;
  await transactions.run(async (tx) => {
    await lockMonitor(tx.em, monitor.id);
    const findings = await tx.em.find(DriftFinding, { monitorId: monitor.id, status: { $ne: 'resolved' } });
    for (const finding of findings) {
      finding.follow(miss(finding.state(), 'destroyed'));
      publishTransition(tx, finding, runId);
    }
  });
}
