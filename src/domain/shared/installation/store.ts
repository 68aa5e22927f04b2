import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { Installation } from '../entity.ts';

/** The one row about the installation; null before its first start. */
export function findInstallation(em: Em): Promise<Installation | null> {
  return em.findOne(Installation, { only: true });
}

/** Inserts the row unless another process has just done so; returns the stored row. */
export async function insertInstallation(em: Em, id: string, sealedKeys: Buffer): Promise<Installation> {
  await db(em)
    .insertInto('installation')
    .values({ id, sealedKeys, createdAt: sql`clock_timestamp()` })
    .onConflict((conflict) => conflict.column('only').doNothing())
    .execute();
  return em.findOneOrFail(Installation, { only: true });
}

/** Binds the installation to a namespace of the engine unless it is bound already; returns the one it is bound to. */
export async function bindNamespace(em: Em, namespaceId: string): Promise<string | null | undefined> {
  const [row] = await db(em)
    .updateTable('installation')
    .set((eb) => ({ engineNamespaceId: eb.fn.coalesce('engineNamespaceId', eb.val(namespaceId)) }))
    .returning('engineNamespaceId as namespaceId')
    .execute();
  return row?.namespaceId;
}

/** Records that unfinished runs were compared with the engine, and how many of them the engine had lost. */
export async function recordReconciliation(em: Em, missed: number): Promise<void> {
  await db(em).updateTable('installation').set({ reconciledAt: sql`clock_timestamp()`, runsMissed: missed }).execute();
}
