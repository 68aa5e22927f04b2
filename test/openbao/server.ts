import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '#test/support/workload-identity/verifier.ts';

/** What `bao` needs in the environment to talk to the server as its administrator. */
export interface OpenBao {
  readonly environment: Readonly<Record<'BAO_ADDR' | 'BAO_TOKEN' | 'HOME', string>>;
  stop(): Promise<void>;
}

const startWithinMs = 30_000;
/** The user `nobody`: the server needs no rights, even if the tests run as root. */
const nobody = 65_534;

/** Starts an unsealed OpenBao that keeps everything in memory. @throws Error if there is no `bao` on the search path */
export async function startOpenBao(): Promise<OpenBao> {
  const home = mkdtempSync(join(tmpdir(), 'openbao-'));
  chmodSync(home, 0o777);
  const port = await findFreePort();
  const environment = { BAO_ADDR: `http://127.0.0.1:${port}`, BAO_TOKEN: randomUUID(), HOME: home };
  const options = ['-dev-no-store-token', `-dev-listen-address=127.0.0.1:${port}`];
  const child = spawn('bao', ['server', '-dev', ...options, `-dev-root-token-id=${environment.BAO_TOKEN}`], {
    env: { PATH: process.env['PATH'], HOME: home },
    cwd: home,
    stdio: 'ignore',
    ...(process.getuid?.() === 0 && { uid: nobody, gid: nobody }),
  });
  const ended = new Promise<never>((_resolve, reject) => {
    child.once('error', (cause) => reject(new Error('the proof needs `bao` of OpenBao on the search path', { cause })));
    child.once('close', (code) => reject(new Error(`OpenBao ended with ${code}`)));
  });
  const stopped = ended.catch(() => undefined);
  await Promise.race([waitUntilUnsealed(environment.BAO_ADDR), ended]);
  return {
    environment,
    stop: async () => {
      child.kill();
      await stopped;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function waitUntilUnsealed(address: string): Promise<void> {
  for (const start = Date.now(); Date.now() - start < startWithinMs; await sleep(200)) {
    const isUnsealed = await fetch(`${address}/v1/sys/health`).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isUnsealed) return;
  }
  throw new Error(`OpenBao was not ready within ${startWithinMs / 1000} seconds`);
}
