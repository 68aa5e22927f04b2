import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { secretKeysPath } from '#config';
import { hasCode, StartError } from './errors.ts';
import { readClusterVersion } from './postgres/postgres.ts';

/** How this release lays out a data directory; raised when an older release could no longer read it. */
const layout = 1;
/** The major version of the embedded PostgreSQL, whose files no other major version reads. */
const postgresMajor = 18;

const Versions = z.object({ layout: z.int(), postgres: z.int() });

export type ServiceFile = { readonly url: string; readonly admin_url: string; readonly pid: number };

/** Makes the directory, or finds that it is this release's. @throws StartError */
export function openDataDirectory(dataDir: string): void {
  makeDirectory(dataDir);
  makeDirectory(join(dataDir, 'logs'));
}

/** @throws StartError when the directory's content is of another version; call it with the lock held */
export function checkVersions(dataDir: string): void {
  const path = join(dataDir, 'version.json');
  const found = existsSync(path) ? readVersions(path) : null;
  if (found !== null && found.layout !== layout) {
    throw otherVersion(dataDir, `has layout ${found.layout}, and this release reads layout ${layout}`);
  }
  const cluster = readClusterVersion(dataDir) ?? found?.postgres ?? postgresMajor;
  if (cluster !== postgresMajor) {
    throw otherVersion(dataDir, `holds data of PostgreSQL ${cluster}, and this release embeds ${postgresMajor}`);
  }
  if (found === null) writeAtomically(path, { layout, postgres: postgresMajor });
}

/** The key ring of the embedded default: generated once, readable by its owner alone. */
export function ensureSecretKeys(dataDir: string, environment: NodeJS.ProcessEnv): void {
  const path = secretKeysPath(dataDir);
  const isGiven = ['COORDINATOR_SECRET_KEYS', 'COORDINATOR_SECRET_KEYS_FILE'].some((name) => environment[name]?.trim());
  if (isGiven || existsSync(path)) return;
  writeFileSync(`${path}.draft`, `k1:${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  renameSync(`${path}.draft`, path);
}

/** Tells other programs where the running service is. */
export function writeServiceFile(dataDir: string, service: ServiceFile): void {
  writeAtomically(join(dataDir, 'service.json'), service);
}

export function removeServiceFile(dataDir: string): void {
  rmSync(join(dataDir, 'service.json'), { force: true });
}

/** Whether a step that is done once for a data directory (`administrator`, `sample`) was done. */
export function isDone(dataDir: string, step: 'administrator' | 'sample'): boolean {
  return existsSync(join(dataDir, `${step}.done`));
}

export function markDone(dataDir: string, step: 'administrator' | 'sample'): void {
  writeFileSync(join(dataDir, `${step}.done`), `${new Date().toISOString()}\n`);
}

/** An empty log file to append to; the previous start's is kept beside it as `<name>.1.log`. */
export function rotateLog(dataDir: string, name: string): string {
  const path = join(dataDir, 'logs', `${name}.log`);
  if (existsSync(path) && statSync(path).size > 0) renameSync(path, join(dataDir, 'logs', `${name}.1.log`));
  return path;
}

/** Root's directory lets other users pass, not look: PostgreSQL and template code run as such. */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  } catch (error) {
    if (hasCode(error, 'EEXIST') || hasCode(error, 'ENOTDIR')) {
      throw new StartError(`${path} is not a directory: give another one with COORDINATOR_DATA_DIR.`);
    }
    if (hasCode(error, 'EACCES') || hasCode(error, 'EROFS') || hasCode(error, 'EPERM')) {
      throw new StartError(`${path} cannot be made (no permission): give another one with COORDINATOR_DATA_DIR.`);
    }
    throw error;
  }
}

function readVersions(path: string): z.output<typeof Versions> {
  const found = Versions.safeParse(parseJson(readFileSync(path, 'utf8')));
  if (found.success) return found.data;
  throw new StartError(
    `${path} does not say which version made this directory: give another with COORDINATOR_DATA_DIR.`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Reported by the caller as what it is: no version.
    return null;
  }
}

function otherVersion(dataDir: string, difference: string): StartError {
  return new StartError(
    `The data directory ${dataDir} ${difference}: start the release that made it, or give another directory with COORDINATOR_DATA_DIR.`,
  );
}

function writeAtomically(path: string, content: object): void {
  writeFileSync(`${path}.draft`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o644 });
  renameSync(`${path}.draft`, path);
}
