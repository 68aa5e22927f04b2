import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startNativeProcess } from '#local/native-process.ts';
import { makeTestDirectory } from '#test/support/directories.ts';
import { listProcesses, Program, processTree, programEnvironment, whatIsLeft } from '#test/support/programs/start.ts';

const nativeProcessModule = new URL('../../src/local/native-process.ts', import.meta.url).href;

/** A shell script whose process can be found by its file name. */
function sleeper(script = 'while :; do sleep 0.1; done') {
  const directory = makeTestDirectory();
  const file = join(directory, 'sleeper.sh');
  writeFileSync(file, script);
  const program = { command: '/bin/sh', arguments: [file], logFile: join(directory, 'log') };
  const isRunning = () => listProcesses().some(({ command }) => command === `/bin/sh ${file}`);
  return { file, program, isRunning };
}

describe('a native process', () => {
  it('ends at its stop signal, and stop waits for its end', async () => {
    const { program, isRunning } = sleeper('trap "sleep 0.5; exit 7" TERM; while :; do sleep 0.1; done');
    const native = await startNativeProcess({ ...program, stopSignal: 'TERM', graceSeconds: 10 });
    await expect.poll(isRunning).toBe(true);
    await native.stop();
    expect(await native.exited).toBe(7);
    expect(isRunning()).toBe(false);
  });

  it('is killed when it does not end within its grace period', async () => {
    const { program, isRunning } = sleeper('trap "" TERM INT HUP; while :; do sleep 0.1; done');
    const native = await startNativeProcess({ ...program, stopSignal: 'TERM', graceSeconds: 1 });
    await expect.poll(isRunning).toBe(true);
    const startedAt = Date.now();
    await native.stop();
    expect(Date.now() - startedAt).toBeLessThan(8_000);
    expect(isRunning()).toBe(false);
  });

  it('reports its exit code, and does not receive a signal to its watchdog', async () => {
    const { program, isRunning } = sleeper('sleep 2; exit 3');
    const native = await startNativeProcess({ ...program, stopSignal: 'TERM', graceSeconds: 1 });
    // The watchdog catches signals before it starts the program.
    await expect.poll(isRunning).toBe(true);
    const watchdog = listProcesses().find(
      ({ parent, command }) => parent === process.pid && command.includes('watchdog TERM'),
    );
    process.kill(watchdog?.pid ?? 0, 'SIGTERM');
    expect(await native.exited).toBe(3);
    expect(native.hasExited()).toBe(true);
    await native.stop();
  });

  it('does not outlive the process that started it, nor does its watchdog', async () => {
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

  it('gets no secret from the environment', async () => {
    const directory = makeTestDirectory();
    const environment = join(directory, 'environment');
    process.env['COORDINATOR_SECRET_FOR_TEST'] = 'hidden';
    const program = { command: '/bin/sh', arguments: ['-c', `env > ${environment}`], logFile: join(directory, 'log') };
    const native = await startNativeProcess({ ...program, stopSignal: 'TERM', graceSeconds: 1 });
    await native.exited;
    delete process.env['COORDINATOR_SECRET_FOR_TEST'];
    const { readFileSync } = await import('node:fs');
    expect(readFileSync(environment, 'utf8')).not.toContain('hidden');
  });
});
