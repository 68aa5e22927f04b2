import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, posix, sep } from 'node:path';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { filesReadBy, isConfigurationName } from '#domain/sources/hcl/root-files.ts';
import type { ToolName } from '#domain/tools/model.ts';
import { readUntrustedFile } from '../../sandbox/untrusted-files.ts';
import { asArray, isObject, parseJson } from '../../shared/json.ts';
import { dataDirectory } from '../initialization/configuration.ts';

/** The configuration as the tool reads it from the work directory. The one in a plan must be equal to it. */

export interface SnapshotModule {
  readonly source: string;
  readonly version: string;
  /** Relative to the root module. */
  readonly directory: string;
}

export interface Snapshot {
  /** By their keys; the root has the key `''`. */
  readonly modules: ReadonlyMap<string, SnapshotModule>;
  /** Reads the configuration files of a module by their names. @throws Error if they cannot be read */
  readonly filesOf: (module: SnapshotModule) => Promise<ReadonlyMap<string, Buffer>>;
}

interface SnapshotSources {
  readonly tool: ToolName;
  /** The files that the service wrote directly into a directory (`''`: that of the template), by name. */
  readonly filesIn: (directory: string) => ReadonlyMap<string, Buffer>;
  /** The directory of the root module. */
  readonly directory: string;
  /** The directory `.terraform` on the host, which only `init` has written. */
  readonly data: string;
}

const maxRecordBytes = 16 * 1024 * 1024;
export const maxConfigurationBytes = 64 * 1024 * 1024;

export async function readSnapshot(sources: SnapshotSources): Promise<Snapshot> {
  const record = await readUntrustedFile(sources.data, 'modules/modules.json', maxRecordBytes);
  const listed = record === null ? new Map<string, SnapshotModule>() : readModules(recordsOf(record));
  const modules = new Map([...listed, ['', { source: '', version: '', directory: '.' }] as const]);
  return { modules, filesOf: (module) => filesOf(sources, module) };
}

function recordsOf(content: Buffer): JsonValue[] {
  const record = parseJson(content);
  return isObject(record) ? asArray(record['Modules']) : [];
}

/** Reads the list of modules that the tools write after `init` and into plans. @throws Error if it has another form */
export function readModules(records: readonly JsonValue[]): Map<string, SnapshotModule> {
  const modules = new Map<string, SnapshotModule>();
  for (const record of records) {
    const {
      Key: key,
      Source: source = '',
      Version: version = '',
      Dir: directory,
      ...rest
    } = isObject(record) ? record : {};
    const isComplete = typeof key === 'string' && typeof directory === 'string';
    // The tools would also accept these member names in other letter case.
    if (!isComplete || typeof source !== 'string' || typeof version !== 'string' || Object.keys(rest).length > 0) {
      throw new Error('its list of modules has an unknown form');
    }
    if (modules.has(key)) throw new Error(`its list of modules has "${key}" twice`);
    modules.set(key, { source, version, directory });
  }
  return modules;
}

async function filesOf(sources: SnapshotSources, module: SnapshotModule): Promise<ReadonlyMap<string, Buffer>> {
  const path = posix.normalize(module.directory);
  const isFetched = path === dataDirectory || path.startsWith(`${dataDirectory}/`);
  const found = isFetched
    ? await readFetched(sources.data, path.slice(dataDirectory.length + 1))
    : readLaidOut(sources, path);
  const read = filesReadBy(
    sources.tool,
    [...found.keys()].map((name) => ({ name })),
  );
  return new Map(read.map(({ name }) => [name, found.get(name) ?? Buffer.alloc(0)]));
}

function readLaidOut({ filesIn, directory }: SnapshotSources, path: string): Map<string, Buffer> {
  const place = posix.normalize(posix.join(directory, path)).replace(/^\.$|\/$/, '');
  return new Map([...filesIn(place)].filter(([name]) => isConfigurationName(name)));
}

/** Reads what `init` fetched. Links are followed as the tool follows them, but not out of the directory. */
async function readFetched(data: string, path: string): Promise<Map<string, Buffer>> {
  const root = await realpath(data);
  const inside = async (file: string) => {
    const target = await realpath(join(data, path, file));
    if (target !== root && !target.startsWith(root + sep)) throw new Error(`"${path}" leads out of its directory`);
    return target;
  };
  const found = new Map<string, Buffer>();
  for (const entry of await readdir(await inside('.'), { withFileTypes: true })) {
    if (entry.isDirectory() || !isConfigurationName(entry.name)) continue;
    const file = await inside(entry.name);
    const { size } = await stat(file);
    if (size > maxConfigurationBytes) throw new Error(`"${path}/${entry.name}" is too long`);
    found.set(entry.name, await readFile(file));
  }
  return found;
}
