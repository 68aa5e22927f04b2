import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTestDirectory } from '#test/support/directories.ts';
import { Program, programEnvironment } from '#test/support/programs/start.ts';

const lockModule = new URL('../../src/local/data-lock.ts', import.meta.url).href;

/** A process that takes the lock, prints the result, and holds the lock until it ends. */
function startLocker(dataDir: string): Program {
  const code = `import { lockDataDirectory } from '${lockModule}';
    try {
      const unlock = await lockDataDirectory(process.argv[1]);
      process.on('SIGTERM', () => unlock().then(() => process.exit()));
      console.log('held'); setInterval(() => {}, 1000);
    }
    catch (error) { console.log('refused: ' + error.message); }`;
  const command = [process.execPath, '--input-type=module-typescript', '--eval', code, dataDir] as const;
  return new Program([...command], programEnvironment({}));
}

/** Lets several processes try to take the lock at the same time. @returns those that got it */
async function race(dataDir: string, count: number): Promise<Program[]> {
  const lockers = Array.from({ length: count }, () => startLocker(dataDir));
  await Promise.all(lockers.map((program) => program.says(/held|refused/)));
  return lockers.filter(({ output }) => output.includes('held'));
}

describe('the lock of a data directory', () => {
  it('is taken by only one of several processes', async () => {
    const holders = await race(makeTestDirectory(), 4);
    expect(holders).toHaveLength(1);
    await holders[0]?.stop();
  });

  it('is free again when its holder was killed, and is then taken by only one of several processes', async () => {
    const dataDir = makeTestDirectory();
    const first = startLocker(dataDir);
    await first.says(/held/);
    await first.stop('SIGKILL');
    for (const _round of [1, 2]) {
      const holders = await race(dataDir, 4);
      expect(holders).toHaveLength(1);
      await holders[0]?.stop('SIGKILL');
    }
  });

  it('reports its holder to a process that cannot take it', async () => {
    const dataDir = makeTestDirectory();
    const first = startLocker(dataDir);
    await first.says(/held/);
    const second = startLocker(dataDir);
    await second.says(new RegExp(`refused: A coordinator \\(process ${first.pid}\\) already runs on`));
    await first.stop();
  });

  it('works in a directory whose path is too long for a socket', async () => {
    const dataDir = join(makeTestDirectory(), 'x'.repeat(120));
    mkdirSync(dataDir);
    const holders = await race(dataDir, 2);
    expect(holders).toHaveLength(1);
    await holders[0]?.stop();
  });
});
