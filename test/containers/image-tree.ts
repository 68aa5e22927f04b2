import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { temporalVersion } from '../../bench/installation/temporal-cluster.ts';
import { readDockerfile, root } from './compose.ts';

/**
 * Builds in a directory what the build stage of the Dockerfile builds in /app, so that the service runs with exactly the
 * libraries and files of the image.
 */
export function buildTree(directory: string): void {
  mkdirSync(directory, { mode: 0o755 });
  for (const { name, text } of readDockerfile().stages['build'] ?? []) {
    if (name === 'COPY') copyInto(directory, text.split(' '));
    if (name === 'RUN') run(directory, text);
  }
}

function copyInto(directory: string, paths: string[]): void {
  const target = paths.pop() ?? '.';
  for (const path of paths) {
    cpSync(join(root, path), paths.length === 1 ? join(directory, target) : join(directory, target, path), {
      recursive: true,
    });
  }
}

function run(directory: string, script: string): void {
  // npm comes from the system, since the project's own Node has none.
  const PATH = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((each) => !each.includes('node_modules'))
    .join(delimiter);
  const { status, stderr } = spawnSync('sh', ['-c', script], {
    cwd: directory,
    encoding: 'utf8',
    env: { ...process.env, PATH },
  });
  if (status !== 0) throw new Error(`"${script}" exited with ${status}: ${stderr}`);
}

/** Copies the programs that the images have to where unprivileged users can read them. */
export function collectPrograms(directory: string): void {
  const cache = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'delivery-coordinator');
  const cluster = join(cache, `temporal-server-${temporalVersion}`);
  const programs = {
    node: process.execPath,
    'temporal-server': join(cluster, 'server'),
    'temporal-sql-tool': join(cluster, 'sql'),
    temporal: findProgram('temporal') ?? join(cache, 'temporal-1.5.1', 'temporal'),
  };
  mkdirSync(directory, { mode: 0o755 });
  for (const [name, path] of Object.entries(programs)) {
    copyFileSync(path, join(directory, name));
    chmodSync(join(directory, name), 0o755);
  }
}

export function findProgram(name: string): string | null {
  const { status, stdout } = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}
