import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

/** Starts a process whose service takes a second to close. */
function startService(stopWithinMs: string) {
  const program = `
    import { runService } from '#local/service-process.ts';
    const close = () => new Promise((resolve) => setTimeout(resolve, 1000));
    const held = setInterval(() => {}, 1000);
    process.exitCode = await runService(async () => ({ close, stopWithinMs: ${stopWithinMs} }));
    process.exit();`;
  return spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
}

async function stopService(stopWithinMs: string) {
  const child = startService(stopWithinMs);
  const errors = text(child.stderr!);
  await once(child, 'message');
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  return { code, errors: await errors };
}

describe('a service process that is asked to stop', () => {
  it.each(['undefined', '5000'])('waits until its service has closed (time limit %s)', async (stopWithinMs) => {
    expect(await stopService(stopWithinMs)).toEqual({ code: 0, errors: '' });
  });

  it('abandons a service that takes too long to close, and says so', async () => {
    const { code, errors } = await stopService('200');
    expect(code).toBe(1);
    expect(errors).toContain('Stopping took longer than 0.2 seconds; work in progress was abandoned.');
  });

  it('exits at once while its service is still starting', async () => {
    const program = `
      import { runService } from '#local/service-process.ts';
      const held = setInterval(() => {}, 1000);
      const running = runService(() => new Promise(() => {}));
      process.send('waiting');
      process.exit(await running);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    await once(child, 'message');
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
