import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Supervisor } from '#local/supervisor.ts';
import { makeTestDirectory } from '#test/support/directories.ts';
import { listProcesses } from '#test/support/programs/start.ts';

/** Supervises a program with this code. Its reports are in `lines`. */
function supervise(
  code: string,
  environment: NodeJS.ProcessEnv = {},
  settings?: Promise<Readonly<Record<string, string>>>,
) {
  const directory = makeTestDirectory();
  const file = join(directory, 'program.mjs');
  writeFileSync(file, code);
  const lines: string[] = [];
  const supervisor = new Supervisor({
    name: 'example',
    arguments: [file],
    environment: { PATH: process.env['PATH'], DIRECTORY: directory, ...environment },
    ...(settings && { settings }),
    logFile: join(directory, 'log'),
    report: (line) => lines.push(line),
    firstPauseMs: 100,
    readyWithinMs: 60_000,
    saysWaitingAfterMs: 400,
    pin: ({ url = '' }) => ({ ADDRESS: url }),
  });
  onTestFinished(() => supervisor.stop());
  return { supervisor, lines, directory };
}

const ready = `process.send({ type: 'ready', url: process.env.ADDRESS ?? 'chosen' });`;
const stay = 'setInterval(() => {}, 1000);';

describe('a supervised process', () => {
  it('gets settings that are known later, at each of its starts', async () => {
    const program = `
      import { receiveSettings } from ${JSON.stringify(new URL('../../src/local/following-settings.ts', import.meta.url).href)};
      await receiveSettings();
      process.send({ type: 'ready', url: process.env.DATABASE_URL + (process.env.ADDRESS ?? '') });
      setTimeout(() => process.exit(process.env.ADDRESS === undefined ? 5 : 0), 50);`;
    const known = Promise.withResolvers<Record<string, string>>();
    const { supervisor, lines } = supervise(program, {}, known.promise);
    const started = supervisor.start();
    known.resolve({ DATABASE_URL: 'there' });
    expect((await started).url).toBe('there');
    await expect.poll(() => lines.join('\n')).toContain('The example is running again.');
  });

  it('does not start if its settings cannot be determined', async () => {
    const { supervisor } = supervise(stay, {}, Promise.reject(new Error('the database did not start')));
    await expect(supervisor.start()).rejects.toThrow('the database did not start');
  });

  it('is restarted with the address of its first start, after pauses that double', async () => {
    const { supervisor, lines, directory } = supervise(`
      import { appendFileSync } from 'node:fs';
      appendFileSync(process.env.DIRECTORY + '/starts', (process.env.ADDRESS ?? 'first') + ' ');
      ${ready} setTimeout(() => process.exit(5), 50);`);
    expect((await supervisor.start()).url).toBe('chosen');
    await expect.poll(() => lines.filter((line) => line.includes('unexpectedly')).length).toBe(3);
    expect(lines.filter((line) => line.includes('unexpectedly'))).toEqual(
      [0.1, 0.2, 0.4].map((s) => `The example ended unexpectedly (exit code 5); restarting in ${s} s.`),
    );
    expect(readFileSync(join(directory, 'starts'), 'utf8')).toMatch(/^first chosen chosen /);
  });

  it('a supervised process that ends before it is ready fails the start with the last line of its log', async () => {
    const { supervisor } = supervise(
      `console.error('Error: at work\\n  at stack\\nThe port is taken.'); process.exit(1);`,
    );
    await expect(supervisor.start()).rejects.toThrow(/^The example did not start: The port is taken \(.+log\)\.$/);
  });

  it('a supervised process that takes long to be ready is waited for, with a message about the wait', async () => {
    const { supervisor, lines } = supervise(`setTimeout(() => { ${ready} }, 1000); ${stay}`);
    await supervisor.start();
    expect(lines.length).toBeGreaterThan(0);
    expect(new Set(lines)).toEqual(new Set(['Still waiting for the example: it runs, but is not ready yet …']));
  });

  it('a supervised process that ends while it is being stopped is not restarted', async () => {
    const { supervisor, lines, directory } = supervise(`
      import { writeFileSync } from 'node:fs';
      process.on('SIGTERM', () => { writeFileSync(process.env.DIRECTORY + '/asked', ''); process.exit(1); });
      ${ready} ${stay}`);
    await supervisor.start();
    await supervisor.stop();
    expect(existsSync(join(directory, 'asked'))).toBe(true);
    expect(lines.filter((line) => !line.startsWith('Still waiting'))).toEqual([]);
    expect(listProcesses().some(({ pid }) => pid === supervisor.pid)).toBe(false);
  });
});
