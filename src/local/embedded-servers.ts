import { join } from 'node:path';
import type { Account } from './account/account.ts';
import { rotateLog } from './data-directory.ts';
import { findIsolationProblem } from './engine/isolation.ts';
import { startPrivateTemporal } from './engine/private-temporal.ts';
import { startPostgres } from './postgres/postgres.ts';
import { startTemporal } from './temporal.ts';

/** The context that the embedded servers share. */
export type EmbeddedContext = {
  readonly dataDir: string;
  /** The account that they run as; null: this process's own user. */
  readonly account: Account | null;
  /** The directory of their sockets. */
  readonly sockets: string;
  /** Receives a function that stops each server. */
  readonly servers: (() => Promise<void>)[];
  /** Receives a promise for each server, which resolves with one sentence when the server ends unexpectedly. */
  readonly broken: Promise<string>[];
  readonly report: (line: string) => void;
};

/** Starts PostgreSQL on a socket. @returns the URL of the service's database @throws StartError */
export async function startEmbeddedPostgres({
  dataDir,
  account,
  sockets,
  servers,
  broken,
  report,
}: EmbeddedContext): Promise<string> {
  const logFile = rotateLog(dataDir, 'postgres');
  const server = await startPostgres({ dataDir, account, sockets, logFile });
  servers.push(server.stop);
  broken.push(server.exited.then(() => `The embedded PostgreSQL ended unexpectedly: see ${logFile}, and start again.`));
  report('PostgreSQL is ready.');
  return server.url;
}

/** Starts Temporal, isolated from other users if the machine can do that. @returns its address @throws StartError */
export async function startEmbeddedTemporal(context: EmbeddedContext, namespace: string): Promise<string> {
  const { dataDir, account, sockets, servers, broken, report } = context;
  const logFile = rotateLog(dataDir, 'temporal');
  const common = { directory: join(dataDir, 'temporal'), namespace, logFile, account };
  const reason = findIsolationProblem(account);
  if (reason !== null) report(`Every user of this machine can reach the Temporal server: ${reason}.`);
  const server = reason === null ? await startPrivateTemporal({ ...common, sockets }) : await startTemporal(common);
  servers.push(server.stop);
  broken.push(server.exited.then(() => `The Temporal server ended unexpectedly: see ${logFile}, and start again.`));
  report('Temporal is ready.');
  return server.address;
}
