import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

const user = 'coordinator';
const database = 'coordinator';

/** The socket's file name contains this port. */
export const socketPort = 5432;

/** The URL of the service's database. `host` is a name, or the directory of a socket. */
export function embeddedDatabaseUrl(host: string, port: number, password: string): string {
  return `postgres://${user}:${password}@${encodeURIComponent(host)}:${port}/${database}`;
}

export const embeddedDatabase = { user, database } as const;

/** The file with the password of the embedded PostgreSQL. */
export function passwordPath(dataDir: string): string {
  return join(dataDir, 'postgres-password');
}

/** The URL of the database that a running `start` with this data directory embeds; null if none is running. */
export function findRunningDatabase(dataDir: string): string | null {
  const sockets = join(dataDir, 'sockets');
  if (!existsSync(join(sockets, `.s.PGSQL.${socketPort}`))) return null;
  // The path of the link may be too long for the address of a socket.
  const directory = realpathSync(sockets);
  return embeddedDatabaseUrl(directory, socketPort, readFileSync(passwordPath(dataDir), 'utf8').trim());
}
