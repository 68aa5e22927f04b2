import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { sealingKeyOf } from '#domain/audit/chain/seal.ts';
import { sealRecords } from '#domain/audit/chain/sealing.ts';
import { PeriodicTask } from '#engine/periodic-task.ts';

const intervalMs = 30_000;

export interface AuditSealingDeps {
  readonly orm: Orm;
  readonly bindingKey: Buffer;
  readonly log: Logger;
}

/**
 * Seals new audit records. Any number of workers may run it; one of them does the work. A pass without new records is a few short queries.
 */
export function openAuditSealing({ orm, bindingKey, log }: AuditSealingDeps): PeriodicTask {
  const key = sealingKeyOf(bindingKey);
  return new PeriodicTask({
    intervalMs,
    log,
    failure: 'could not seal audit records',
    run: async () => {
      await sealRecords(orm, key);
    },
  });
}
