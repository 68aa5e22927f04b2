import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Transactions } from '#domain/shared/commands/transaction.ts';
import { DriftFinding } from '../entity.ts';
import { lockMonitor } from '../monitors/monitor-target.ts';
import { publishTransition } from './publish.ts';
import { miss } from './transitions.ts';

/**
 * Resolves the findings of an instance that a run has destroyed: nothing is left that could deviate. If another run has deployed the
 * instance since, the findings about that deployment stay.
 */
export async function resolveDestroyed(
  transactions: Transactions,
  em: Em,
  { instanceId, runId }: { readonly instanceId: string; readonly runId: string },
): Promise<void> {
  const monitor = await db(em)
    .selectFrom('drift_monitors')
    .where('instanceId', '=', instanceId)
    .where('deletedAt', 'is', null)
    .select('id')
    .executeTakeFirst();
  if (!monitor) return;
  await transactions.run(async (tx) => {
    await lockMonitor(tx.em, monitor.id);
    const ids = await listFindingsOfFormerDeployments(tx.em, monitor.id);
    const findings = await tx.em.find(DriftFinding, { id: { $in: ids } });
    for (const finding of findings) {
      finding.follow(miss(finding.state(), 'destroyed'));
      publishTransition(tx, finding, runId);
    }
  });
}

async function listFindingsOfFormerDeployments(em: Em, monitorId: string): Promise<string[]> {
  const rows = await db(em)
    .selectFrom('drift_findings as f')
    .innerJoin('drift_evidence as e', 'e.id', 'f.evidenceId')
    .innerJoin('instances as i', 'i.id', 'f.instanceId')
    .where('f.monitorId', '=', monitorId)
    .where('f.status', '<>', 'resolved')
    .where((eb) => eb('e.deployedRunId', 'is distinct from', eb.ref('i.deployedRunId')))
    .select('f.id')
    .execute();
  return rows.map(({ id }) => id);
}
