import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { nobody } from '#domain/shared/access/decide.ts';
import { NothingToDo, runSystemCommand, type SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import { heartbeatTimeoutSeconds } from './model.ts';
import { deregisterWorker } from './store.ts';

/** The workers whose heartbeats have stopped and that nobody has reported yet. */
export async function findSilentWorkers(em: Em): Promise<string[]> {
  const rows = await db(em)
    .selectFrom('workers')
    .where('lost_at', 'is', null)
    .where('heartbeat_at', '<', expiry)
    .select('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Reports a worker whose heartbeats have stopped, once. False where it was reported, or sends heartbeats again. */
export function reportSilentWorker(deps: SystemCommandDeps, id: string): Promise<boolean> {
  return reportLoss(deps, id, async (em) => {
    const rows = await db(em)
      .updateTable('workers')
      .set({ lost_at: sql`clock_timestamp()` })
      .where('id', '=', id)
      .where('lost_at', 'is', null)
      .where('heartbeat_at', '<', expiry)
      .returning(['host', 'pools'])
      .execute();
    return rows[0];
  });
}

/** Removes a worker whose process has ended without deregistering, and reports it unless it was reported before. */
export async function removeDeadWorker(deps: SystemCommandDeps, id: string): Promise<void> {
  const isReported = await reportLoss(deps, id, async (em) => {
    const rows = await db(em)
      .deleteFrom('workers')
      .where('id', '=', id)
      .where('lost_at', 'is', null)
      .returning(['host', 'pools'])
      .execute();
    return rows[0];
  });
  if (!isReported) await deps.transactions.run((tx) => deregisterWorker(tx.em, id));
}

const expiry = sql<string>`now() - make_interval(secs => ${heartbeatTimeoutSeconds})`;

type LostWorker = { host: string; pools: string[] };

/** @param take changes the worker's row; undefined where there is nothing to report */
async function reportLoss(
  deps: SystemCommandDeps,
  id: string,
  take: (em: Em) => Promise<LostWorker | undefined>,
): Promise<boolean> {
  const change = await runSystemCommand(
    deps,
    { action: 'worker.lost', target: { id }, key: null },
    {
      find: async () => nobody,
      act: async (tx) => {
        const worker = await take(tx.em);
        if (!worker) throw new NothingToDo();
        const { host, pools } = worker;
        tx.publish({ type: 'worker.lost', subjectId: id, owners: nobody, data: { host, pools } });
        return { id, after: { host, pools } };
      },
    },
  );
  return change !== undefined;
}
