import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { StartError } from '#local/errors.ts';
import { type NativeProcess, nativeEnvironment, startNativeProcess } from '#local/native-process.ts';
import { assertPortFree } from '#local/ports.ts';

/** scripts/setup/temporal-cluster.js builds this version. Change both together. */
export const temporalVersion = '1.31.2';
const shards = 16;
const connectionsPerService = 20;
const plugin = 'postgres12_pgx';
const stores = { default: 'temporal', visibility: 'temporal_visibility' } as const;

export interface TemporalCluster {
  readonly address: string;
  readonly stop: () => Promise<void>;
}

/** Starts a Temporal server as production runs it: four services and 16 history shards on PostgreSQL. It listens on loopback only. */
export async function startTemporalCluster(databaseUrl: string, directory: string): Promise<TemporalCluster> {
  const programs = findPrograms();
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  makeSchema(programs.sql, new URL(databaseUrl));
  const services = await choosePorts();
  const config = join(directory, 'temporal.json');
  writeFileSync(config, JSON.stringify(configure(new URL(databaseUrl), services)), { mode: 0o600 });
  const logFile = join(directory, 'temporal.log');
  const server = await startNativeProcess({
    command: programs.server,
    arguments: ['--config-file', config, '--allow-no-auth', 'start'],
    logFile,
    stopSignal: 'TERM',
    graceSeconds: 20,
    environment: nativeEnvironment(),
  });
  const address = `127.0.0.1:${services.frontend.rpc.grpcPort}`;
  await waitUntilReady(server, address, logFile);
  return { address, stop: server.stop };
}

function findPrograms(): { server: string; sql: string } {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const directory = join(cache, 'delivery-coordinator', `temporal-server-${temporalVersion}`);
  const programs = { server: join(directory, 'server'), sql: join(directory, 'sql') };
  if (existsSync(programs.server) && existsSync(programs.sql)) return programs;
  throw new StartError(
    `Temporal server ${temporalVersion} is not installed: run \`npm run bench\`, which builds it with Go.`,
  );
}

function makeSchema(tool: string, url: URL): void {
  for (const [store, database] of Object.entries(stores)) {
    const schema = `postgresql/v12/${store === 'default' ? 'temporal' : 'visibility'}`;
    const common = ['--plugin', plugin, '--endpoint', url.hostname, '--port', url.port, '--database', database];
    for (const command of [['create-database'], ['setup-schema', '-v', '0.0'], ['update-schema', '-s', schema]]) {
      const environment = { ...nativeEnvironment(), SQL_USER: url.username, SQL_PASSWORD: url.password };
      const result = spawnSync(tool, [...common, ...command], { env: environment, encoding: 'utf8' });
      if (result.status !== 0) throw new StartError(`Could not create Temporal's schema: ${result.stderr.trim()}`);
    }
  }
}

type ServiceName = 'frontend' | 'history' | 'matching' | 'worker';
type Service = { rpc: { grpcPort: number; membershipPort: number; bindOnLocalHost: true } };

async function choosePorts(): Promise<Record<ServiceName, Service>> {
  const name = async (): Promise<Service> => ({
    rpc: { grpcPort: await findLowPort(), membershipPort: await findLowPort(), bindOnLocalHost: true },
  });
  return { frontend: await name(), history: await name(), matching: await name(), worker: await name() };
}

/** Temporal stores its members' ports in a `smallint`, which is too small for the ephemeral ports of the system. */
async function findLowPort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const isFree = await assertPortFree('127.0.0.1', port, 'port').then(
      () => true,
      () => false,
    );
    if (isFree) return port;
  }
}

function configure(url: URL, services: Record<ServiceName, Service>): object {
  const store = (databaseName: string) => ({
    sql: {
      pluginName: plugin,
      databaseName,
      connectAddr: url.host,
      connectProtocol: 'tcp',
      user: url.username,
      password: url.password,
      maxConnLifetime: '1h',
      maxConns: connectionsPerService,
      maxIdleConns: connectionsPerService,
    },
  });
  const rpcAddress = `127.0.0.1:${services.frontend.rpc.grpcPort}`;
  return {
    log: { stdout: true, level: 'error' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: shards,
      datastores: { default: store(stores.default), visibility: store(stores.visibility) },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services,
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
  };
}

async function waitUntilReady(server: NativeProcess, address: string, logFile: string): Promise<void> {
  const deadline = Date.now() + 90_000;
  while (Date.now() < deadline) {
    if (server.hasExited()) throw new StartError(`The Temporal server exited before it was ready; see ${logFile}.`);
    if (await hasNamespace(address, 'temporal-system')) return;
    await sleep(200);
  }
  await server.stop();
  throw new StartError(`The Temporal server did not become ready; see ${logFile}.`);
}

async function hasNamespace(address: string, namespace: string): Promise<boolean> {
  try {
    const connection = await Connection.connect({ address, connectTimeout: '2s' });
    try {
      await connection.workflowService.countWorkflowExecutions({ namespace });
      return true;
    } finally {
      await connection.close();
    }
  } catch {
    return false; // It does not listen yet, or its namespace does not exist yet.
  }
}

/** Registers a namespace and waits until the server accepts work for it. */
export async function createNamespace(address: string, namespace: string): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    const day = { seconds: 86_400 as never };
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: day });
  } finally {
    await connection.close();
  }
  while (!(await hasNamespace(address, namespace))) await sleep(200);
}
