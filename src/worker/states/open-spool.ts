import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '#config';
import { recordRefusedState } from '#domain/runs/attempts/refused-state.ts';
import { storeAttemptState } from '#domain/runs/attempts/state.ts';
import type { Transactions } from '#domain/shared/commands/transaction.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { timed } from '#domain/shared/tasks/spans.ts';
import { StateSpool } from './state-spool.ts';

interface SpoolServices {
  readonly keyRing: KeyRing;
  readonly log: Logger;
  readonly transactions: Transactions;
}

/** Opens the spool of a worker, which saves the states of its attempts to the database. */
export function openSpool(
  { dataDir }: Pick<Config, 'dataDir'>,
  { keyRing, log, transactions }: SpoolServices,
  workerId: string,
): StateSpool {
  return new StateSpool({
    directory: join(dataDir, 'spool'),
    keyRing,
    log,
    save: (state) =>
      timed('store_state', { attemptId: state.attemptId }, () =>
        transactions.run((tx) => storeAttemptState(tx, keyRing, state)),
      ),
    recordRefusal: (refused) => transactions.run((tx) => recordRefusedState(tx, { ...refused, workerId })),
  });
}
