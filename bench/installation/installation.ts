import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { type Config, loadConfig } from '#config';
import { createFirstAdministrator } from '#domain/identity/bootstrap.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { withDatabase } from '#open-database';
import { HttpClient } from '../load/http-client.ts';
import { type ServiceProcess, startServiceProcess } from './service-process.ts';

/** One installation of the service that a benchmark measures. */
export interface Installation {
  readonly config: Config;
  /** The settings of its processes. */
  readonly environment: Readonly<Record<string, string>>;
  /** A client with an administrator's API key. */
  readonly http: HttpClient;
  /** The address of the API. */
  readonly url: string;
  /** The process id of the API. */
  readonly apiPid: number;
  /** The process id of the worker; 0 while none runs. */
  workerPid(): number;
  /** Direct access to the installation's database. */
  readonly database: pg.Pool;
  /** Direct access to Temporal, in the installation's namespace. */
  readonly temporal: Client;
  startWorker(): Promise<void>;
  stopWorker(): Promise<void>;
  close(): Promise<void>;
}

const administrator = { email: 'bench@example.com', name: 'Bench', password: 'correct horse battery' };

export async function openInstallation(
  environment: Readonly<Record<string, string>>,
  directory: string,
  profiles: string | null,
): Promise<Installation> {
  const config = loadConfig(environment);
  await withDatabase(config, (orm) =>
    createFirstAdministrator({ orm, keyRing: new KeyRing(config.secretKeys) }, administrator),
  );
  const api = await startServiceProcess('api', environment, directory, profiles);
  const database = new pg.Pool({ connectionString: config.databaseUrl, max: 8 });
  const connection = await Connection.connect({ address: config.temporal.address });
  const http = new HttpClient(api.url, { 'x-api-key': await makeApiKey(api.url) });
  let worker: ServiceProcess | undefined;
  const stopWorker = async () => {
    await worker?.stop();
    worker = undefined;
  };
  return {
    config,
    environment,
    http,
    database,
    stopWorker,
    url: api.url,
    apiPid: api.pid,
    workerPid: () => worker?.pid ?? 0,
    temporal: new Client({ connection, namespace: config.temporal.namespace }),
    startWorker: async () => {
      worker = await startServiceProcess('worker', environment, directory, profiles);
    },
    close: async () => {
      await stopWorker();
      await Promise.all([http.close(), database.end(), connection.close()]);
      await api.stop();
    },
  };
}

async function makeApiKey(url: string): Promise<string> {
  const anonymous = new HttpClient(url, {}, 1);
  const { email, password } = administrator;
  const session = await anonymous.call('POST', '/auth/sessions', { email, password });
  await anonymous.close();
  const user = new HttpClient(url, { authorization: `Bearer ${session.token}` }, 1);
  const { key } = await user.call('POST', '/profile/api-keys', { name: 'bench' });
  await user.close();
  return key;
}
