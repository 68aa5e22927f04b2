import pino from 'pino';
import type { Config } from '#config';
import { RefusalLog } from '#domain/shared/audit.ts';
import { openDatabase } from '#domain/shared/database.ts';
import { openInstallation } from '#domain/shared/installation.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { Transactions } from '#domain/shared/transaction.ts';
import { openEngine } from '#engine/connection.ts';
import { Dispatcher } from '#engine/dispatcher.ts';
import { edgeLogOptions } from './plugins/log-options.ts';
import { stopServer } from './plugins/shutdown.ts';
import { RunFeed } from './run-feed.ts';
import { buildServer } from './server.ts';
import type { Services } from './services.ts';

const stopWithinMs = 20_000;

/** Runs the API until it is closed; closing lets requests finish. */
export async function runApi(config: Config): Promise<{ url: string; adminUrl: string; close(): Promise<void> }> {
  const log = pino({ level: config.logLevel, ...edgeLogOptions });
  const orm = openDatabase(config);
  const keyRing = new KeyRing(config.secretKeys);
  const installation = await openInstallation(orm, keyRing);
  const engine = openEngine(config.temporal);
  const dispatcher = new Dispatcher({ client: engine.client, orm, installationId: installation.id, log });
  const transactions = new Transactions(orm, dispatcher.deliver);
  const services: Services = {
    config,
    orm,
    transactions,
    keyRing,
    installation,
    refusals: new RefusalLog(),
    runFeed: new RunFeed(orm, log),
    log,
  };
  const app = await buildServer(services);
  const url = await app.listen({ host: config.host, port: config.port });
  return {
    url,
    adminUrl: url,
    close: async () => {
      await stopServer(app, { within: stopWithinMs });
      await dispatcher.drain(5_000);
      await engine.close();
      await orm.close();
    },
  };
}
