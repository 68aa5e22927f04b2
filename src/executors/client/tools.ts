import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { Tool, ToolName } from '../protocol/request.ts';
import { allowedEnvironment } from '../shared/environment.ts';
import { AttemptFailure } from '../shared/errors.ts';

export interface InstalledTool extends Tool {
  readonly path: string;
}

const programs: readonly { name: ToolName; program: string }[] = [
  { name: 'opentofu', program: 'tofu' },
  { name: 'terraform', program: 'terraform' },
];
const versionTimeoutMs = 20_000;

/** Asking for a version costs as much as half a plan, so each binary is asked once until it changes. */
const versions = new Map<string, Promise<string | null>>();

/**
 * Finds the tools on a search path, by default the process's own: OpenTofu first, then Terraform, and only the first of each.
 * A program that does not report its version is skipped.
 */
export async function discoverTools(searchPath = process.env['PATH'] ?? ''): Promise<InstalledTool[]> {
  const found = await Promise.all(
    programs.map(async ({ name, program }) => {
      const path = await findProgram(program, searchPath);
      const version = path === null ? null : await readVersion(path);
      return path === null || version === null ? null : { name, version, path };
    }),
  );
  return found.filter((tool) => tool !== null);
}

/** Returns the tool that made the plan, or else the first one found. @throws AttemptFailure `tool_unavailable` */
export async function chooseTool(wanted: Tool | null): Promise<InstalledTool> {
  const tools = await discoverTools();
  const chosen =
    wanted === null ? tools[0] : tools.find(({ name, version }) => name === wanted.name && version === wanted.version);
  if (chosen) return chosen;
  const missing = wanted === null ? 'neither OpenTofu nor Terraform' : `no ${wanted.name} ${wanted.version}`;
  throw new AttemptFailure('tool_unavailable', `this worker has ${missing}`);
}

/** Returns the first executable file with a name on a search path; null if there is none. */
export async function findProgram(program: string, searchPath = process.env['PATH'] ?? ''): Promise<string | null> {
  for (const directory of searchPath.split(delimiter)) {
    if (directory === '') continue;
    const path = join(directory, program);
    const isRunnable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isRunnable) return realpath(path);
  }
  return null;
}

async function readVersion(path: string): Promise<string | null> {
  const { size, mtimeMs } = await stat(path);
  const key = `${path} ${size} ${mtimeMs}`;
  const known = versions.get(key) ?? askVersion(path);
  versions.set(key, known);
  // A tool that was too slow to answer may answer the next time.
  if ((await known) === null) versions.delete(key);
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
