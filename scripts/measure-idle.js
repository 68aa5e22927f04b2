import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What the embedded service costs while it does nothing: seconds to start for the first and the second time, and memory
 * by process (PSS: pages that processes share are counted once) a minute after the first start has run its sample. Linux
 * only. What else runs on the machine shows in the figures, so let nothing else run.
 */
const root = resolve(import.meta.dirname, '..');
const dataDir = mkdtempSync(join(tmpdir(), 'coordinator-idle-'));
const idleMs = 60_000;

/** Starts the service and resolves once it says that it is ready. */
async function start() {
  const startedAt = performance.now();
  const environment = { COORDINATOR_DATA_DIR: dataDir, COORDINATOR_PORT: '0', COORDINATOR_ADMIN_PORT: '0' };
  const child = spawn(process.execPath, ['--disable-sigusr1', 'src/main.ts', 'start'], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((_, reject) => child.once('exit', (code) => reject(new Error(`start ended with ${code}`))));
  const ready = new Promise((done) => {
    let said = '';
    child.stdout.on('data', (piece) => {
      said += piece;
      if (said.includes('\n  Ready ')) done(undefined);
    });
  });
  await Promise.race([ready, ended]);
  ended.catch(() => undefined);
  const stop = async () => {
    child.kill('SIGINT');
    await ended.catch(() => undefined);
  };
  return { pid: child.pid, seconds: (performance.now() - startedAt) / 1000, stop };
}

function treeOf(pid) {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean),
  );
  return [pid, ...children.flatMap(treeOf)];
}

function pssOf(pid) {
  const found = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'));
  return Number(found?.[1] ?? 0) / 1024;
}

const names = [
  [/main\.ts start/, '`start` itself'],
  [/main\.ts api/, 'API'],
  [/main\.ts worker/, 'worker'],
  [/^\S*temporal server/, 'Temporal development server'],
  [/^(socat|bwrap) /, "Temporal's network of its own"],
  [/postgres/, 'PostgreSQL, all its processes'],
];

function nameOf(pid) {
  const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  if (commandLine.startsWith('/bin/sh')) return 'shells that guard the servers';
  return names.find(([pattern]) => pattern.test(commandLine))?.[1] ?? 'other';
}

try {
  const first = await start();
  await sleep(idleMs);
  const memory = new Map();
  for (const pid of treeOf(first.pid)) memory.set(nameOf(pid), (memory.get(nameOf(pid)) ?? 0) + pssOf(pid));
  await first.stop();
  const second = await start();
  await second.stop();
  console.log(`${cpus().length} processors (${cpus()[0]?.model}), Node ${process.version}`);
  for (const [name, mebibytes] of memory) console.log(`| ${name} | ${mebibytes.toFixed(0)} MiB |`);
  console.log(`| together | ${[...memory.values()].reduce((sum, each) => sum + each, 0).toFixed(0)} MiB |`);
  console.log(
    `First start, with its sample runs: ${first.seconds.toFixed(1)} s. Second: ${second.seconds.toFixed(1)} s.`,
  );
} finally {
  rmSync(dataDir, { recursive: true, force: true });
}
