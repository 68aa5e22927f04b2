import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { inject } from 'vitest';
import { runApi } from '#api/main.ts';
import type { Config } from '#config';
import { createFirstAdministrator } from '#domain/identity/bootstrap.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { openDatabase, withDatabase } from '#open-database';
import { runWorker } from '#worker/main.ts';
import { expectKnownActions } from './access/audited-actions.ts';
import { Caller } from './api/caller.ts';
import { createTestConfig } from './config.ts';
import { createDatabase, type TestDatabase } from './database/database.ts';
import { expectHeardChanges, watchStatusChanges } from './status-changes.ts';

export { ended } from './api/caller.ts';

/** The whole service: the API over HTTP, a worker, and their own database and Temporal namespace. */
export interface System {
  readonly config: Config;
  readonly url: string;
  readonly adminUrl: string;
  readonly administrator: Caller;
  readonly database: TestDatabase;
  stopWorker(): Promise<void>;
  startWorker(): Promise<void>;
  close(): Promise<void>;
}

export const administrator = { email: 'root@example.com', name: 'Root', password: 'correct horse battery' };

export async function startSystem(overrides: Record<string, string> = {}): Promise<System> {
  const [database, namespace] = await Promise.all([createDatabase(), createNamespace()]);
  const config = createTestConfig(database.url, { TEMPORAL_NAMESPACE: namespace, ...overrides });
  await withDatabase(config, async (orm) => {
    await createFirstAdministrator({ orm, keyRing: new KeyRing(config.secretKeys) }, administrator);
    await watchStatusChanges(orm, 'from now on');
  });
  const api = await runApi(config);
  let worker: Awaited<ReturnType<typeof runWorker>> | undefined = await runWorker(config);
  const stopWorker = async () => {
    await worker?.close();
    worker = undefined;
  };
  return {
    config,
    url: api.url,
    adminUrl: api.adminUrl,
    database,
    stopWorker,
    administrator: await Caller.signIn(api.url, administrator.email, administrator.password),
    startWorker: async () => {
      worker = await runWorker(config);
    },
    close: async () => {
      await stopWorker();
      await api.close();
      const orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 1 });
      await expectKnownActions(orm);
      await expectHeardChanges(orm);
      await orm.close();
      await database.drop();
      rmSync(config.dataDir, { recursive: true, force: true });
    },
  };
}

/** Creates a Temporal namespace for one installation. Two installations in one namespace would take each other's tasks. */
export async function createNamespace(): Promise<string> {
  const namespace = `test-${randomUUID()}`;
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
    await waitUntilUsable(connection, namespace);
  } finally {
    await connection.close();
  }
  return namespace;
}

/** Waits until the namespace can be used, which is a little later than its creation is answered. */
async function waitUntilUsable(connection: Connection, namespace: string): Promise<void> {
  for (;;) {
    try {
      await connection.workflowService.listOpenWorkflowExecutions({ namespace });
      return;
    } catch {
      await sleep(100);
    }
  }
}
