import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { withoutInspector } from '#local/node-flags.ts';
import { listTree, readCommandLine, readMemory } from './processes.ts';

const root = resolve(fileURLToPath(new URL('../..', import.meta.url)));
const idleMs = 60_000;

const names: readonly [RegExp, string][] = [
  [/main\.ts start/, '`start` itself'],
  [/main\.ts api/, 'API'],
  [/main\.ts worker/, 'worker'],
  [/executors\/host\/main\.ts/, 'executor host'],
  [/^\S*temporal server/, 'Temporal development server'],
  [/^\S*(socat|bwrap) /, "Temporal's private network"],
  [/postgres/, 'PostgreSQL, all processes'],
  [/^\S*sh /, 'watchdogs of the servers'],
];

/** Starts everything as `npm start` does and lets it idle for a minute. @returns the memory of each part in MiB */
export async function measureIdleStack(directory: string): Promise<Record<string, number>> {
  const settings = {
    COORDINATOR_DATA_DIR: join(directory, 'idle'),
    COORDINATOR_PORT: '0',
    COORDINATOR_ADMIN_PORT: '0',
  };
  const child = spawn(process.execPath, [withoutInspector, 'src/main.ts', 'start'], {
    cwd: root,
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  try {
    await Promise.race([waitUntilReady(child.stdout), ended.then(() => Promise.reject(new Error('`start` ended')))]);
    await sleep(idleMs);
    const memory: Record<string, number> = {};
    for (const pid of listTree(child.pid ?? 0)) {
      const name = names.find(([pattern]) => pattern.test(readCommandLine(pid)))?.[1] ?? 'other';
      memory[name] = (memory[name] ?? 0) + readMemory([pid]);
    }
    return memory;
  } finally {
    child.kill('SIGINT');
    await ended;
  }
}

function waitUntilReady(output: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolveReady) => {
    let said = '';
    output.on('data', (piece: Buffer) => {
      said += piece.toString();
      if (said.includes('\n  Ready ')) resolveReady();
    });
  });
}
