import type { EntityManager } from '@mikro-orm/postgresql';
import { OutboxRow } from './entity.ts';

/** What the engine is told. Ids only: nothing that is said here may be a secret. */
export type OutboxPayload =
  | { kind: 'start'; workflow: string; input: Record<string, string> }
  | { kind: 'signal'; signal: string }
  | { kind: 'cancel' }
  | { kind: 'schedule_upsert'; schedule: Record<string, string> }
  | { kind: 'schedule_delete' };

/** After this time a row that its own process has not delivered is anybody's. */
const ownDeliveryMs = 2_000;

/**
 * Says in the caller's transaction what the engine must be told after the commit.
 * @param target the workflow's or schedule's id; what is said to one target is delivered in order
 */
export function tellEngine(tx: EntityManager, target: string, payload: OutboxPayload): OutboxRow {
  const row = tx.create(OutboxRow, { target, payload, dueAt: new Date(Date.now() + ownDeliveryMs) });
  tx.persist(row);
  return row;
}
