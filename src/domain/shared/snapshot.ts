import { IsolationLevel } from '@mikro-orm/core';
import type { Em } from '#database/database.ts';

/**
 * Runs reads that must be consistent with each other: every statement sees the database as it was when the first one ran. The transaction
 * is read-only.
 */
export async function inSnapshot<Result>(em: Em, read: (snapshot: Em) => Promise<Result>): Promise<Result> {
  const snapshot = em.fork();
  await snapshot.begin({ isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true });
  try {
    return await read(snapshot);
  } finally {
    await snapshot.rollback().catch(() => undefined); // Without the connection, the transaction is gone too.
  }
}
