import { randomUUID } from 'node:crypto';
import type { Config } from '#config';
import type { Orm } from '#database/database.ts';
import type { RunLinks } from '#domain/runs/admission/admission.ts';
import { admitScan } from '#domain/runs/admission/scans/scan.ts';
import { systemPrincipal } from '#domain/shared/access/principal.ts';
import { Transactions } from '#domain/shared/commands/transaction.ts';
import { KeyRing } from '#domain/shared/secrets.ts';

/** Admits scans as the service does. A worker's sweeper starts them. Returns the id of the run. */
export function scannerOf(orm: Orm, config: Config) {
  const transactions = new Transactions(orm, { dispatch: () => undefined });
  const keyRing = new KeyRing(config.secretKeys);
  const requester = systemPrincipal('drift monitor');
  return async (instanceId: string, links: RunLinks = {}): Promise<string> => {
    const request = { key: randomUUID(), instanceId, requester, links };
    const { runId } = await transactions.run((tx) => admitScan(tx, { keyRing }, request));
    return runId;
  };
}
