import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { startPostgres } from '#local/postgres/postgres.ts';
import { startTemporal } from '#local/temporal.ts';
import { makeMemoryDirectory } from './memory-directory.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of a database whose user may create databases. */
    databaseAdminUrl: string;
    /** Name of the migrated database that `createDatabase` clones. */
    templateDatabase: string;
    /** host:port of the test run's Temporal server, with the namespace `default`. */
    temporalAddress: string;
    /** A directory that is deleted at the end of the test run. The data directories in it share its directory `cache`. */
    scratchDirectory: string;
  }
}

const templateDatabase = 'migrated_template';

/** Starts one real PostgreSQL and one real Temporal server for the whole test run, and deletes them at its end. */
export default async function startServices(project: TestProject): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'coordinator-test-'));
  chmodSync(directory, 0o711);
  mkdirSync(join(directory, 'cache'), { mode: 0o700 });
  // Tests start many processes of the service. Only the first one compiles the code.
  process.env['NODE_COMPILE_CACHE'] = join(directory, 'cache', 'code');
  const databases = makeMemoryDirectory() ?? directory;
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    await Promise.all(stops.map((stopService) => stopService()));
    for (const made of [directory, databases]) rmSync(made, { recursive: true, force: true });
  };
  try {
    const postgres = startPostgres({
      dataDir: databases,
      logFile: join(directory, 'postgres.log'),
      isDurable: false,
      sockets: null,
      // A proof compares the order of commits.
      // A small log keeps the directory small.
      // Each test file has a new database. Planning a statement anew for its first five uses costs more than any plan saves.
      // Analyzed while it is empty, a table of a kept database would get plans that take minutes once a test fills it.
      settings: {
        autovacuum: 'off',
        track_commit_timestamp: 'on',
        max_wal_size: '128MB',
        plan_cache_mode: 'force_generic_plan',
      },
    });
    const temporal = startTemporal({ directory: null, namespace: 'default', logFile: join(directory, 'temporal.log') });
    for (const service of await Promise.allSettled([postgres, temporal])) {
      if (service.status === 'fulfilled') stops.push(service.value.stop);
    }
    await makeTemplate((await postgres).url);
    project.provide('databaseAdminUrl', (await postgres).url);
    project.provide('templateDatabase', templateDatabase);
    project.provide('scratchDirectory', directory);
    project.provide('temporalAddress', (await temporal).address);
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

async function makeTemplate(adminUrl: string): Promise<void> {
  await query(adminUrl, `CREATE DATABASE ${templateDatabase}`);
  const { migrate } = await import('#migrate');
  const url = new URL(adminUrl);
  url.pathname = `/${templateDatabase}`;
  await migrate({ databaseUrl: url.href });
  // PostgreSQL clones a database only while it has no connections, not even one of autovacuum.
  await query(adminUrl, `ALTER DATABASE ${templateDatabase} WITH ALLOW_CONNECTIONS false`);
  await query(
    adminUrl,
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${templateDatabase}'`,
  );
}

async function query(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
