import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { Signals } from '#database/signals.ts';
import { admitScan } from '#domain/runs/admission/scans/scan.ts';
import { systemPrincipal } from '#domain/shared/access/principal.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import { openInstallation } from '#domain/shared/installation/installation.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { Dispatcher } from '#engine/dispatcher.ts';
import { openDatabase } from '#open-database';
import type { Installation } from '../installation/installation.ts';

/** Admits scans as the service does for a monitor, from the process of the benchmark. */
export async function openScanner({ config, temporal: client }: Installation) {
  const orm = openDatabase(config);
  const keyRing = new KeyRing(config.secretKeys);
  const { id: installationId } = await openInstallation(orm, keyRing);
  const log = pino({ level: 'silent' });
  const signals = new Signals(config.databaseUrl, log);
  signals.start();
  const transactions = new Transactions(orm, new Dispatcher({ client, orm, installationId, log, signals }));
  const requester = systemPrincipal('drift monitor');
  const scan = async (instanceId: string): Promise<string> => {
    const request = { key: randomUUID(), instanceId, requester };
    return (await transactions.run((tx) => admitScan(tx, { keyRing }, request))).runId;
  };
  const close = async () => {
    await signals.close();
    await orm.close(true);
  };
  return { scan, close };
}

/** Waits in the database until a run has succeeded, so that the API has nothing to do. */
export async function awaitSuccess({ database }: Installation, id: string): Promise<void> {
  for (;;) {
    const { rows } = await database.query('select status, finished_at from runs where id = $1', [id]);
    if (rows[0].finished_at === null) await sleep(10);
    else if (rows[0].status === 'succeeded') return;
    else throw new Error(`the run ${id} ended ${rows[0].status}`);
  }
}
