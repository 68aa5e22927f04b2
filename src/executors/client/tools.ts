import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, readdir, realpath, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { ToolName } from '#domain/tools/model.ts';
import type { Tool } from '../protocol/request.ts';
import { allowedEnvironment } from '../shared/environment.ts';
import { AttemptFailure } from '../shared/errors.ts';

export interface InstalledTool extends Tool {
  readonly path: string;
  /** Changes whenever the file does. */
  readonly identity: string;
}

/** The places to look for tools. */
export interface ToolPlaces {
  /** By default the process's own. */
  readonly searchPath?: string;
  /** A directory that an operator fills with `<opentofu or terraform>/<version>/<tofu or terraform>`; null: none. */
  readonly directory: string | null;
}

const programs: readonly { name: ToolName; program: string }[] = [
  { name: 'opentofu', program: 'tofu' },
  { name: 'terraform', program: 'terraform' },
];
const versionTimeoutMs = 20_000;

/** How long a program that did not report its version is not asked again. It may only have been too slow. */
const askAgainAfterMs = 60_000;

/** Asking for a version costs half as much as a plan, so the answer is kept for each binary until the file changes. */
const versions = new Map<string, Promise<string | null>>();

/**
 * Finds the tools of this machine: the first OpenTofu and the first Terraform on the search path, and all in the operator's directory.
 * Leaves out a tool whose version was found before, and a program that does not report its version, because names of directories are not
 * trusted.
 */
export async function discoverTools({ searchPath, directory }: ToolPlaces): Promise<InstalledTool[]> {
  const onPath = await Promise.all(
    programs.map(async (each) => inspect(each.name, await findProgram(each.program, searchPath))),
  );
  const inDirectory = await Promise.all(programs.map((each) => findInDirectory(directory, each)));
  const found = [...onPath, ...inDirectory.flat()].filter((tool) => tool !== null);
  return found.filter((tool, at) => found.findIndex((other) => isSame(tool, other)) === at);
}

/** Returns the tool that is wanted, or else the first one. @throws AttemptFailure `tool_unavailable` */
export function chooseTool(tools: readonly InstalledTool[], wanted: Tool | null): InstalledTool {
  const chosen = wanted === null ? tools[0] : tools.find((tool) => isSame(tool, wanted));
  if (chosen) return chosen;
  const missing = wanted === null ? 'neither OpenTofu nor Terraform' : `no ${wanted.name} ${wanted.version}`;
  throw new AttemptFailure('tool_unavailable', `this worker has ${missing}`);
}

async function findInDirectory(
  directory: string | null,
  { name, program }: (typeof programs)[number],
): Promise<(InstalledTool | null)[]> {
  if (directory === null) return [];
  const versionsOfTool = await readdir(join(directory, name)).catch(() => []);
  const found: (InstalledTool | null)[] = [];
  // One after the other: if many programs started at once, they would take too long to answer.
  for (const version of versionsOfTool.toSorted()) {
    found.push(await inspect(name, await findIn(join(directory, name, version), program)));
  }
  return found;
}

async function inspect(name: ToolName, path: string | null): Promise<InstalledTool | null> {
  const file = path === null ? undefined : await stat(path).catch(() => undefined);
  if (path === null || !file) return null;
  const identity = `${path} ${file.size} ${file.mtimeMs}`;
  const version = await readVersion(path, identity);
  return version === null ? null : { name, version, path, identity };
}

function isSame(one: Tool, other: Tool): boolean {
  return one.name === other.name && one.version === other.version;
}

/** How long the result of a search is kept. Each attempt asks, and a search looks into every directory of the path. */
const searchAgainAfterMs = 5_000;
const searches = new Map<string, { readonly at: number; readonly found: Promise<string | null> }>();

/**
 * Returns the first executable file with a name on a search path; null if there is none. A file that was added within the last five seconds may
 * be missed.
 */
export function findProgram(program: string, searchPath = process.env['PATH'] ?? ''): Promise<string | null> {
  const key = `${program} ${searchPath}`;
  const last = searches.get(key);
  if (last && performance.now() - last.at < searchAgainAfterMs) return last.found;
  const search = { at: performance.now(), found: searchProgram(program, searchPath) };
  searches.set(key, search);
  search.found.catch(() => searches.delete(key));
  return search.found;
}

async function searchProgram(program: string, searchPath: string): Promise<string | null> {
  for (const directory of searchPath.split(delimiter)) {
    const found = directory === '' ? null : await findIn(directory, program);
    if (found !== null) return found;
  }
  return null;
}

async function findIn(directory: string, program: string): Promise<string | null> {
  const path = join(directory, program);
  const isRunnable = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
  return isRunnable ? realpath(path) : null;
}

async function readVersion(path: string, identity: string): Promise<string | null> {
  const known = versions.get(identity) ?? askVersion(path);
  versions.set(identity, known);
  if ((await known) === null) setTimeout(() => versions.delete(identity), askAgainAfterMs).unref();
  return known;
}

async function askVersion(path: string): Promise<string | null> {
  const env = {
    ...allowedEnvironment(process.env),
    CHECKPOINT_DISABLE: '1',
    TF_CLI_CONFIG_FILE: '/dev/null',
    HOME: '/nonexistent',
  };
  try {
    const { stdout } = await promisify(execFile)(path, ['version', '-json'], {
      env,
      cwd: '/',
      timeout: versionTimeoutMs,
    });
    const answer: unknown = JSON.parse(stdout);
    if (typeof answer !== 'object' || answer === null || !('terraform_version' in answer)) return null;
    return typeof answer.terraform_version === 'string' ? answer.terraform_version : null;
  } catch {
    return null;
  }
}
