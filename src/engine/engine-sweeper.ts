import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Orm } from '#database/database.ts';
import { engineSubscriber } from '#domain/shared/events/outbox.ts';
import type { SignalSource } from '#domain/shared/events/topics.ts';
import { deliverMessage } from './deliver.ts';
import type { PeriodicTask } from './periodic-task.ts';
import { openSweeper } from './sweeper.ts';

/** Delivers the messages to workflows that no dispatcher delivered: its process died, or the engine was unreachable. */
export function openEngineSweeper(deps: {
  client: Client;
  orm: Orm;
  installationId: string;
  log: Logger;
  signals: SignalSource;
}): PeriodicTask {
  const { client, orm, installationId, log, signals } = deps;
  return openSweeper({
    orm,
    log,
    signals,
    subscriber: engineSubscriber,
    deliver: async ({ id, target, payload }) => {
      if (payload.kind === 'event')
        throw new Error(`row ${id} of the outbox names an event, but the engine receives messages to workflows`);
      await deliverMessage(client, installationId, { id, target, payload });
    },
  });
}
