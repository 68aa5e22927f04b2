import { join } from 'node:path';
import type { Account } from './account/account.ts';
import { rotateLog } from './data-directory.ts';
import { whyNotIsolated } from './engine/isolation.ts';
import { startPrivateTemporal } from './engine/private-temporal.ts';
import { startPostgres } from './postgres/postgres.ts';
import { startTemporal } from './temporal.ts';

/** Where the embedded servers run, and who hears of them. */
export type Place = {
  readonly dataDir: string;
  /** Who they run as; null: this process's own user. */
  readonly account: Account | null;
  /** The directory of their sockets. */
  readonly sockets: string;
  /** How each of them is stopped. */
  readonly servers: (() => Promise<void>)[];
  /** Each resolves with one sentence when its server ends by itself. */
  readonly broken: Promise<string>[];
  readonly report: (line: string) => void;
};

/** Starts PostgreSQL on a socket. Resolves with the URL of its database. @throws StartError */
export async function embedPostgres({ dataDir, account, sockets, servers, broken, report }: Place): Promise<string> {
  const logFile = rotateLog(dataDir, 'postgres');
  const server = await startPostgres({ dataDir, account, sockets, logFile });
  servers.push(server.stop);
  broken.push(server.exited.then(() => `The embedded PostgreSQL ended unexpectedly; ${logFile} says why.`));
  report('PostgreSQL is ready.');
  return server.url;
}

/** Starts Temporal, apart from other users where the machine can. Resolves with its address. @throws StartError */
export async function embedTemporal(place: Place, namespace: string): Promise<string> {
  const { dataDir, account, sockets, servers, broken, report } = place;
  const logFile = rotateLog(dataDir, 'temporal');
  const common = { directory: join(dataDir, 'temporal'), namespace, logFile, account };
  const reason = whyNotIsolated(account);
  if (reason !== null) report(`Every user of this machine can reach the Temporal server: ${reason}.`);
  const server = reason === null ? await startPrivateTemporal({ ...common, sockets }) : await startTemporal(common);
  servers.push(server.stop);
  broken.push(server.exited.then(() => `The Temporal server ended unexpectedly; ${logFile} says why.`));
  report('Temporal is ready.');
  return server.address;
}
