import { randomUUID } from 'node:crypto';
import type { Em } from '#database/database.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import type { EventSubscription } from '#domain/shared/events/event-type.ts';

/** Publishes the next of a subject's events that tests count: its number is in the event's `by`. */
export function publishCounted(tx: Transaction, subjectId: string, count: number): void {
  const data = { by: String(count), operation: 'apply' } as const;
  tx.publish({ type: 'run.admitted', subjectId, owners: { teamId: null }, data });
}

/** Keeps other publishers of a subject waiting until the commit, as the lock of its row does in the service. */
export async function lockSubject(em: Em, subjectId: string): Promise<void> {
  await em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [subjectId]);
}

/** A subscriber of everything that `publishCounted` publishes. */
export function subscribe(subscriber: string): EventSubscription {
  return { subscriber, types: ['run.admitted'] };
}

export function newSubjects(count: number): string[] {
  return Array.from({ length: count }, () => randomUUID());
}
