import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { AttemptFailure } from './attempt/attempt-error.ts';
import { allowedEnvironment } from './attempt/environment.ts';
import type { Tool, ToolName } from './protocol/request.ts';

export interface InstalledTool extends Tool {
  readonly path: string;
}

const programs: readonly { name: ToolName; program: string }[] = [
  { name: 'opentofu', program: 'tofu' },
  { name: 'terraform', program: 'terraform' },
];
const versionPatienceMs = 20_000;

/** Asking costs as much as half a plan, so each binary is asked once for as long as it stays what it is. */
const versions = new Map<string, Promise<string | null>>();

/**
 * The tools on a search path (the process's own by default): OpenTofu first, then Terraform, and of each the first one
 * found. A program that cannot say its version is none.
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

/** The tool that planned, or the best there is. @throws AttemptFailure `tool_unavailable` */
export async function chooseTool(wanted: Tool | null): Promise<InstalledTool> {
  const tools = await discoverTools();
  const chosen =
    wanted === null ? tools[0] : tools.find(({ name, version }) => name === wanted.name && version === wanted.version);
  if (chosen) return chosen;
  const missing = wanted === null ? 'neither OpenTofu nor Terraform' : `no ${wanted.name} ${wanted.version}`;
  throw new AttemptFailure('tool_unavailable', `this worker has ${missing}`);
}

/** The first executable file of a name on a search path; null without one. */
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
  // A tool that was too slow to answer once may answer the next time.
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
      timeout: versionPatienceMs,
    });
    const answer: unknown = JSON.parse(stdout);
    if (typeof answer !== 'object' || answer === null || !('terraform_version' in answer)) return null;
    return typeof answer.terraform_version === 'string' ? answer.terraform_version : null;
  } catch {
    return null;
  }
}
