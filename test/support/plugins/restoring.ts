import { setTimeout as sleep } from 'node:timers/promises';
import type { Orm } from '#database/database.ts';
import {
  checkRestoration,
  checkRoots,
  commitRestoration,
  type RestorationDeps,
} from '#domain/plugins/restorations/steps.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import { openInstallation } from '#domain/shared/installation/installation.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { withDatabase } from '#open-database';
import { createTestConfig } from '../config.ts';

/** No root may be looked for. */
export const noRoots = { schemas: [], databaseUrl: null };

/** Carries out a restoration as its workflow does. */
export async function carryOut(deps: RestorationDeps, id: string): Promise<void> {
  if (!(await checkRestoration(deps, id))) return;
  if (!(await checkRoots(deps, id))) return;
  await commitRestoration(deps, id);
}

/** Stands in for the engine and a worker: carries out each restoration that is requested, until it is stopped. */
export function carryOutRestorations(deps: RestorationDeps): { stop(): Promise<void> } {
  let isStopped = false;
  const work = async () => {
    while (!isStopped) {
      const rows = await deps.orm.em
        .fork()
        .execute<{ id: string }[]>(`select id from plugin_restorations where status = 'running'`);
      for (const { id } of rows) await carryOut(deps, id);
      await sleep(20);
    }
  };
  const working = work();
  return {
    stop: () => {
      isStopped = true;
      return working;
    },
  };
}

/** `carryOutRestorations` for the database of another process. */
export async function carryOutWaiting(orm: Orm): Promise<{ stop(): Promise<void> }> {
  return carryOutRestorations(await depsOf(orm));
}

/**
 * Carries out the next restoration of a resource, as a worker of that database would: over connections of its own, of which faults of the
 * service's statements know nothing. It waits until there is one. If the database is dropped first, it fails.
 */
export async function carryOutNext({ config }: Orm, resourceId: string): Promise<void> {
  const sql = `select id from plugin_restorations where resource_id = ? and status = 'running'`;
  await withDatabase({ databaseUrl: config.get('clientUrl') ?? '', databasePoolSize: 2 }, async (orm) => {
    for (;;) {
      const [row] = await orm.em.fork().execute<{ id: string }[]>(sql, [resourceId]);
      if (row) return carryOut(await depsOf(orm), row.id);
      await sleep(20);
    }
  });
}

async function depsOf(orm: Orm): Promise<RestorationDeps> {
  const keyRing = new KeyRing(createTestConfig('postgres://unused').secretKeys);
  const { bindingKey } = await openInstallation(orm, keyRing);
  return { orm, bindingKey, transactions: new Transactions(orm, { dispatch: () => undefined }), pluginRoots: noRoots };
}
