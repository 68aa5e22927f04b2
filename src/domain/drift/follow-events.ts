import type { Orm } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { isPartial } from '#domain/runs/options/model.ts';
import type { Transactions } from '#domain/shared/commands/transaction.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import { resolveDestroyed } from './findings/resolve-destroyed.ts';
import { endHeirs, inheritMonitors, syncHeirs } from './monitors/inheritance.ts';
import { recordScan } from './scans/record-scan.ts';

/** The dependencies for following the events of other areas. Every step may be repeated. */
export interface FollowDeps {
  readonly orm: Orm;
  readonly transactions: Transactions;
}

/** Handles the events of the subscriber `drift`: runs that ended, and monitors that were created, changed or deleted. */
export async function handleDriftEvent(deps: FollowDeps, { type, subject: { id } }: PublishedEvent): Promise<void> {
  if (type === 'run.finished') return followRun(deps, id);
  if (type === 'drift_monitor.deleted') return endHeirs(deps.transactions, id);
  return syncHeirs(deps.transactions, id);
}

async function followRun({ orm, transactions }: FollowDeps, runId: string): Promise<void> {
  const em = orm.em.fork();
  await recordScan(transactions, runId, em);
  const run = await db(em)
    .selectFrom('runs')
    .where('id', '=', runId)
    .select(['operation', 'status', 'options', 'instanceId'])
    .executeTakeFirst();
  if (run?.status !== 'succeeded') return;
  if (run.operation === 'apply' || run.operation === 'refresh')
    return inheritMonitors(transactions, { instanceId: run.instanceId });
  // After a partial destroy, the remaining resources may still deviate.
  if (run.operation === 'destroy' && !isPartial(run.options))
    return resolveDestroyed(transactions, em, { instanceId: run.instanceId, runId });
}
