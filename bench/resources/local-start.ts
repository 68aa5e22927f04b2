import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listTree, readCommandLine, readTreeCpu } from './processes.ts';

export const root = resolve(fileURLToPath(new URL('../..', import.meta.url)));

/** The parts of a local start, by the command lines of their processes. */
const patterns: readonly [RegExp, string][] = [
  [/main\.js api/, 'API'],
  [/main\.js worker/, 'worker'],
  [/executor-host\.js/, 'executor host'],
  [/^\S*temporal server/, 'Temporal development server'],
  [/main\.js start/, '`start` itself'],
  [/^(\S*socat|\S*bwrap|\S*sh) /, 'shells, relays and sandboxes'],
  [/postgres/, 'PostgreSQL, all processes'],
];

/** A service that `./start` has started. */
export interface LocalStart {
  /** From its begin until it said that it is ready, in milliseconds. */
  readonly readyMs: number;
  /** The processor time that all its processes had used by then, in milliseconds. */
  readonly readyCpuMs: number;
  /** When it said that something was ready, in milliseconds after set-up. */
  readonly said: (pattern: RegExp) => number;
  /** Its processes by part. */
  readonly listParts: () => Record<string, number[]>;
  readonly stop: () => Promise<void>;
}

/** Starts everything as a user does, and waits until it is ready; at the first start on a directory, with the sample. */
export async function startLocally(directory: string): Promise<LocalStart> {
  const settings = {
    COORDINATOR_DATA_DIR: join(directory, 'local'),
    COORDINATOR_PORT: '0',
    COORDINATOR_ADMIN_PORT: '0',
  };
  const startedAt = performance.now();
  const child = spawn('./start', [], {
    cwd: root,
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = await waitUntilReady(child);
  return {
    readyMs: performance.now() - startedAt,
    readyCpuMs: readTreeCpu(child.pid ?? 0),
    said: (pattern) => {
      const [, seconds] = new RegExp(`\\[(\\d+\\.\\d) s\\] ${pattern.source}`).exec(output) ?? [];
      if (seconds === undefined) throw new Error(`\`start\` did not say ${pattern}`);
      return Number(seconds) * 1000;
    },
    listParts: () => groupByPart(child.pid ?? 0),
    stop: async () => {
      child.kill('SIGINT');
      await once(child, 'exit');
    },
  };
}

function groupByPart(pid: number): Record<string, number[]> {
  const parts: Record<string, number[]> = {};
  for (const each of listTree(pid)) {
    const part = patterns.find(([pattern]) => pattern.test(readCommandLine(each)))?.[1];
    if (part !== undefined) parts[part] = [...(parts[part] ?? []), each];
  }
  return parts;
}

async function waitUntilReady(child: ChildProcess): Promise<string> {
  let said = '';
  const ready = new Promise<void>((done) => {
    child.stdout?.on('data', (piece: Buffer) => {
      said += piece.toString();
      if (said.includes('\n  Ready ')) done();
    });
  });
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`\`start\` ended:\n${said}`)));
  ended.catch(() => undefined);
  await Promise.race([ready, ended]);
  return said;
}
