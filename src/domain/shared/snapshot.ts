import { IsolationLevel } from '@mikro-orm/core';
import type { Em } from '#database/database.ts';

/** Reads what has to hold together: every statement sees the database as it was when the first one ran. Nothing can be written. */
export async function inSnapshot<Result>(em: Em, read: (snapshot: Em) => Promise<Result>): Promise<Result> {
  const snapshot = em.fork();
  await snapshot.begin({ isolationLevel: IsolationLevel.REPEATABLE_READ, readOnly: true });
  try {
    return await read(snapshot);
  } finally {
    await snapshot.rollback().catch(() => undefined); // Without the connection, the transaction is gone too.
  }
}
