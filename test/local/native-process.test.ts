import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startNativeProcess } from '#local/native-process.ts';
import { makeTestDirectory } from '#test/support/directories.ts';
import { listProcesses, Program, processTree, programEnvironment, whatIsLeft } from '#test/support/start.ts';

const nativeProcessModule = new URL('../../src/local/native-process.ts', import.meta.url).href;

/** A program of this name that a shell script makes; its name finds it among the processes. */
function sleeper(script = 'while :; do sleep 0.1; done') {
  const directory = makeTestDirectory();
  const file = join(directory, 'sleeper.sh');
  writeFileSync(file, script);
  const program = { command: '/bin/sh', arguments: [file], logFile: join(directory, 'log') };
  const isRunning = () => listProcesses().some(({ command }) => command === `/bin/sh ${file}`);
  return { file, program, isRunning };
}

describe('a guarded program', () => {
  it('ends by its stop signal, and is waited for', async () => {
    const { program, isRunning } = sleeper('trap "sleep 0.5; exit 7" TERM; while :; do sleep 0.1; done');
    const guarded = await startNativeProcess({ ...program, stopSignal: 'TERM', graceSeconds: 10 });
    await expect.poll(isRunning).toBe(true);
    await guarded.stop();
    expect(await guarded.exited).toBe(7);
    expect(isRunning()).toBe(false);
  });

  it('is killed when it does not end within its grace', async () => {
    const { program, isRunning } = sleeper('trap "" TERM INT HUP; while :; do sleep 0.1; done');
    const guarded = await startNativeProcess({ ...program, stopSignal: 'TERM', graceSeconds: 1 });
    await expect.poll(isRunning).toBe(true);
    const startedAt = Date.now();
    await guarded.stop();
    expect(Date.now() - startedAt).toBeLessThan(8_000);
    expect(isRunning()).toBe(false);
  });

  it('shows its own end, and takes no signal meant for the guard', async () => {
    const { program } = sleeper('sleep 1; exit 3');
    const guarded = await startNativeProcess({ ...program, stopSignal: 'TERM', graceSeconds: 1 });
    const guard = listProcesses().find(
      ({ parent, command }) => parent === process.pid && command.includes('watchdog TERM'),
    );
    process.kill(guard?.pid ?? 0, 'SIGTERM');
    expect(await guarded.exited).toBe(3);
    expect(guarded.hasExited()).toBe(true);
    await guarded.stop();
  });

  it('does not outlive the process that started it, nor does the guard', async () => {
    const { file, program } = sleeper('trap "" HUP; while :; do sleep 0.1; done');
    const options = { ...program, stopSignal: 'TERM', graceSeconds: 2 };
    const code = `import { startNativeProcess } from '${nativeProcessModule}';
      await startNativeProcess(${JSON.stringify(options)}); console.log('started'); setInterval(() => {}, 1000);`;
    const parent = new Program(
      [process.execPath, '--input-type=module-typescript', '--eval', code],
      programEnvironment({}),
    );
    await parent.says(/started/);
    const tree = processTree(parent.pid).filter(({ command }) => !command.startsWith('sleep'));
    expect(tree.map(({ command }) => command)).toContain(`/bin/sh ${file}`);
    await parent.stop('SIGKILL');
    expect(await whatIsLeft(tree)).toEqual([]);
  });

  it('gets nothing secret of the environment', async () => {
    const directory = makeTestDirectory();
    const environment = join(directory, 'environment');
    process.env['COORDINATOR_SECRET_FOR_TEST'] = 'hidden';
    const program = { command: '/bin/sh', arguments: ['-c', `env > ${environment}`], logFile: join(directory, 'log') };
    const guarded = await startNativeProcess({ ...program, stopSignal: 'TERM', graceSeconds: 1 });
    await guarded.exited;
    delete process.env['COORDINATOR_SECRET_FOR_TEST'];
    const { readFileSync } = await import('node:fs');
    expect(readFileSync(environment, 'utf8')).not.toContain('hidden');
  });
});
