import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, lutimesSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readStart } from '#domain/shared/processes.ts';
import { Executor } from '#executors/client/executor.ts';
import { chooseHostUser } from '#executors/client/host-user.ts';

const usualTemporary = process.env['TMPDIR'];
let temporary: string;
let closed: string;

/** The machine's temporary directory of this test, and a directory of a service that only root may enter. */
beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), 'coordinator-test-temporary-'));
  execFileSync('chmod', ['1777', temporary]);
  process.env['TMPDIR'] = temporary;
  closed = mkdtempSync(join(temporary, 'service-'));
});
afterEach(() => {
  if (usualTemporary === undefined) delete process.env['TMPDIR'];
  else process.env['TMPDIR'] = usualTemporary;
  rmSync(temporary, { recursive: true, force: true });
});

const start = (directory = join(closed, 'executor')) =>
  Executor.start({
    directory,
    isolation: 'auto',
    usesGroups: false,
    user: null,
    cores: 1,
    addedPaths: [],
    hiddenPaths: [],
    toolsDirectory: null,
    providerMirror: null,
    providerNetworkMirror: null,
    providersDirect: false,
    deniedAddresses: [],
  });

const rootOf = (directory: string) =>
  join(temporary, `coordinator-executor-${chooseHostUser(null, directory, null)?.uid}`);

/** What a service left that was killed, or still uses: a directory with one of a host in it. */
function leave(uid: number, { owner, ageSeconds }: { owner: string | null; ageSeconds: number }): string {
  const root = join(temporary, `coordinator-executor-${uid}`);
  const host = join(root, 'host-0123456789abcdef');
  mkdirSync(join(root, 'initialized', 'cached'), { recursive: true, mode: 0o700 });
  if (owner !== null) {
    mkdirSync(host, { mode: 0o700 });
    writeFileSync(join(host, 'owner'), `${owner} ${join(host, 'sockets')}`);
  }
  execFileSync('chown', ['-R', `${uid}:${uid}`, root]);
  const changedAt = new Date(Date.now() - ageSeconds * 1000);
  if (owner !== null) lutimesSync(host, changedAt, changedAt);
  lutimesSync(root, changedAt, changedAt);
  return root;
}

describe.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
  'the temporary directory of an executor',
  () => {
    it('exists while the executor runs, and is removed when it stops', async () => {
      const executor = await start();
      const root = rootOf(join(closed, 'executor'));
      expect(existsSync(root)).toBe(true);
      mkdirSync(join(root, 'initialized', 'cached'), { recursive: true });
      execFileSync('chown', ['-R', `--reference=${root}`, join(root, 'initialized')]);
      await executor.close();
      expect(existsSync(root)).toBe(false);
    });

    it('is kept while another executor uses it', async () => {
      const [one, other] = [await start(), await start()];
      const root = rootOf(join(closed, 'executor'));
      await one.close();
      expect(existsSync(root)).toBe(true);
      await other.close();
      expect(existsSync(root)).toBe(false);
    });

    it('is removed by the next start if its service was killed, but not while it is used or new', async () => {
      const dead = leave(64_001, { owner: '4194304 1', ageSeconds: 120 });
      const empty = leave(64_002, { owner: null, ageSeconds: 120 });
      const fresh = leave(64_003, { owner: null, ageSeconds: 0 });
      const used = leave(64_004, { owner: `${process.pid} ${readStart(process.pid)}`, ageSeconds: 120 });
      const foreign = join(temporary, 'coordinator-executor-64005');
      mkdirSync(foreign, { mode: 0o700 });
      chownSync(foreign, 64_006, 64_006);
      lutimesSync(foreign, 0, 0);
      const executor = await start();
      await expect.poll(() => [existsSync(dead), existsSync(empty)], { timeout: 60_000 }).toEqual([false, false]);
      await executor.close();
      expect([existsSync(fresh), existsSync(used)]).toEqual([true, true]);
      expect([existsSync(foreign), existsSync(dirname(closed))]).toEqual([true, true]);
    });
  },
);
