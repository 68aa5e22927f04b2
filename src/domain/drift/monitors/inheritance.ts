import type { Transaction, Transactions } from '#domain/shared/commands/transaction.ts';
import { newId, zeroId } from '#domain/shared/ids.ts';
import { DriftMonitor } from '../entity.ts';
import { followParent, type Heir, listEndedHeirs, lockHeirs } from './inheritance-store.ts';
import { scheduleMonitor, unscheduleMonitor } from './scheduling.ts';

/** The maximum number of monitors that one transaction creates or changes. */
const atOnce = 100;

/** The heirs to process: those of one monitor, one instance, or all. */
export interface HeirFilter {
  readonly parentId?: string;
  readonly instanceId?: string;
}

/** Creates the missing monitors that deployed instances inherit from their environment or template. Repeating it is harmless. */
export async function inheritMonitors(transactions: Transactions, filter: HeirFilter = {}): Promise<void> {
  for (;;) {
    const made = await transactions.run((tx) => inheritSome(tx, filter));
    if (made < atOnce) return;
  }
}

async function inheritSome(tx: Transaction, filter: HeirFilter): Promise<number> {
  const found = await lockHeirs(tx.em, { ...filter, limit: atOnce });
  const made = new Set<string>();
  for (const heir of found) {
    if (made.has(heir.instanceId)) continue;
    made.add(heir.instanceId);
    addHeir(tx, heir);
  }
  await tx.em.flush();
  return found.length;
}

function addHeir(tx: Transaction, { parentId, ...heir }: Heir): void {
  const place = { scope: 'instance', templateId: null, inheritedFrom: parentId } as const;
  const monitor = tx.em.create(DriftMonitor, { id: newId(), ...place, ...heir, ignoreRules: [] });
  tx.em.persist(monitor);
  scheduleMonitor(tx, monitor);
}

/** Gives the heirs of a monitor its schedule, and creates heirs for the instances without a monitor. */
export async function syncHeirs(transactions: Transactions, parentId: string): Promise<void> {
  for (;;) {
    const changed = await transactions.run((tx) => followSome(tx, parentId));
    if (changed < atOnce) break;
  }
  await inheritMonitors(transactions, { parentId });
}

async function followSome(tx: Transaction, parentId: string): Promise<number> {
  const ids = await followParent(tx.em, parentId, atOnce);
  const monitors = await tx.em.find(DriftMonitor, { id: { $in: ids } });
  for (const monitor of monitors) scheduleMonitor(tx, monitor);
  return ids.length;
}

/**
 * Ends the schedules of the monitors that were deleted with the one that they inherited from. Their instances may inherit from another
 * monitor.
 */
export async function endHeirs(transactions: Transactions, parentId: string): Promise<void> {
  let after = zeroId;
  for (;;) {
    const ids = await transactions.run(async (tx) => {
      const page = await listEndedHeirs(tx.em, parentId, after, atOnce);
      for (const id of page) unscheduleMonitor(tx, id);
      return page;
    });
    after = ids.at(-1) ?? after;
    if (ids.length < atOnce) break;
  }
  await inheritMonitors(transactions);
}
