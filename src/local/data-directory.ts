import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { codeCachePath, secretKeysPath } from '#config';
import { hasCode, StartError } from './errors.ts';
import { readClusterVersion } from './postgres/postgres.ts';
import { createWhole, replaceWhole } from './whole-file.ts';

/** The version of the data directory's layout. It rises when older releases can no longer read the directory. */
const layout = 1;
/** The major version of the embedded PostgreSQL. No other major version can read its files. */
const postgresMajor = 18;

const Versions = z.object({ layout: z.int(), postgres: z.int() });

export type ServiceFile = { readonly url: string; readonly admin_url: string; readonly pid: number };

/** Creates the data directory if it does not exist. @throws StartError if it cannot be created */
export function openDataDirectory(dataDir: string): void {
  makeDirectory(dataDir);
  makeDirectory(join(dataDir, 'logs'));
  makeCodeCache(codeCachePath(dataDir));
}

/** Only this user may write the cache, because this service executes what is in it. A cache that others could write is removed. */
function makeCodeCache(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  const isOpen = found && (found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0);
  explainRefusal(path, () => {
    if (isOpen) rmSync(path, { recursive: true });
    mkdirSync(path, { recursive: true, mode: 0o700 });
  });
}

/** Call it with the lock held. @throws StartError if another version wrote the directory's content */
export function checkVersions(dataDir: string): void {
  const path = join(dataDir, 'version.json');
  const found = existsSync(path) ? readVersions(path) : null;
  if (found !== null && found.layout !== layout) {
    throw versionMismatch(dataDir, `has layout ${found.layout}, and this release reads layout ${layout}`);
  }
  const cluster = readClusterVersion(dataDir) ?? found?.postgres ?? postgresMajor;
  if (cluster !== postgresMajor) {
    throw versionMismatch(
      dataDir,
      `holds data of PostgreSQL ${cluster}, and this release embeds PostgreSQL ${postgresMajor}`,
    );
  }
  if (found === null) replaceWhole(path, toText({ layout, postgres: postgresMajor }), 0o644);
}

/** Generates a key ring if there is none. Only its owner can read the file. */
export function ensureSecretKeys(dataDir: string, environment: NodeJS.ProcessEnv): void {
  const path = secretKeysPath(dataDir);
  const isGiven = ['COORDINATOR_SECRET_KEYS', 'COORDINATOR_SECRET_KEYS_FILE'].some((name) => environment[name]?.trim());
  if (isGiven || existsSync(path)) return;
  createWhole(path, `k1:${randomBytes(32).toString('base64')}\n`, 0o600);
}

/** Writes the file by which other programs find the running service. */
export function writeServiceFile(dataDir: string, service: ServiceFile): void {
  replaceWhole(join(dataDir, 'service.json'), toText(service), 0o644);
}

export function removeServiceFile(dataDir: string): void {
  rmSync(join(dataDir, 'service.json'), { force: true });
}

/**
 * Writes the authorization header of a session into a file that only its owner can read, so that neither a terminal nor a list of processes
 * shows the token.
 * @returns the path, for `curl -H @path`
 */
export function writeAuthorization(dataDir: string, token: string): string {
  const path = join(dataDir, 'authorization');
  rmSync(path, { force: true });
  writeFileSync(path, `Authorization: Bearer ${token}\n`, { mode: 0o600, flag: 'wx' });
  return path;
}

/** Whether a step that runs only once for a data directory (`administrator`, `sample`) has run. */
export function isDone(dataDir: string, step: 'administrator' | 'sample'): boolean {
  return existsSync(join(dataDir, `${step}.done`));
}

export function markDone(dataDir: string, step: 'administrator' | 'sample'): void {
  writeFileSync(join(dataDir, `${step}.done`), `${new Date().toISOString()}\n`);
}

/** The path of a new log file. The log of the previous start is kept as `<name>.1.log`. */
export function rotateLog(dataDir: string, name: string): string {
  const path = join(dataDir, 'logs', `${name}.log`);
  if (existsSync(path) && statSync(path).size > 0) renameSync(path, join(dataDir, 'logs', `${name}.1.log`));
  return path;
}

/** If root creates the directory, other users may enter but not list it: PostgreSQL and template code run as other users. */
function makeDirectory(path: string): void {
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  explainRefusal(path, () => mkdirSync(path, { recursive: true, mode }));
}

/** @throws StartError if the operating system refuses to make the directory */
function explainRefusal(path: string, make: () => unknown): void {
  try {
    make();
  } catch (error) {
    if (hasCode(error, 'EEXIST') || hasCode(error, 'ENOTDIR')) {
      throw new StartError(`${path} is not a directory: choose another one with COORDINATOR_DATA_DIR.`);
    }
    if (hasCode(error, 'EACCES') || hasCode(error, 'EROFS') || hasCode(error, 'EPERM')) {
      throw new StartError(
        `${path} cannot be created (no permission): choose another directory with COORDINATOR_DATA_DIR.`,
      );
    }
    throw error;
  }
}

function readVersions(path: string): z.output<typeof Versions> {
  const found = Versions.safeParse(parseJson(readFileSync(path, 'utf8')));
  if (found.success) return found.data;
  throw new StartError(
    `${path} does not say which version wrote this directory: choose another one with COORDINATOR_DATA_DIR.`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The caller reports that the file does not contain a version.
    return null;
  }
}

function versionMismatch(dataDir: string, difference: string): StartError {
  return new StartError(
    `The data directory ${dataDir} ${difference}: start the release that wrote it, or choose another directory with COORDINATOR_DATA_DIR.`,
  );
}

function toText(content: object): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}
