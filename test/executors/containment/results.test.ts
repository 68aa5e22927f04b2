import { linkSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandExecutor } from '#executors/protocol/request.ts';
import { listUntrustedFiles, readUntrustedFile } from '#executors/sandbox/untrusted-files.ts';
import { makeRequest, RecordingSink, shell } from '../support.ts';
import { WorkerProcess, workerUsers } from '../worker/worker-process.ts';

/** Results that a template leaves for the host to read: plan.json, the directory plan, outputs.json and state.json. */
const key = `planted-result-${process.pid}`;
const directory = mkdtempSync(join(tmpdir(), 'coordinator-test-results-'));
const planted = join(directory, 'key');
writeFileSync(planted, JSON.stringify({ key }), { mode: 0o644 });
afterAll(() => rmSync(directory, { recursive: true }));

const noChanges = "echo '[]' > plan.json";
/** Ways to let a name refer to another file, or to something that cannot be read. */
const leads: [string, (name: string) => string][] = [
  ['a link to a file of the machine', (name) => `ln -sf ${planted} ${name}`],
  ['a link to a process of the machine', (name) => `ln -sf /proc/1/environ ${name}`],
  ['a link to itself', (name) => `ln -sf ${name} ${name}`],
  ['a pipe', (name) => `mkfifo ${name}`],
  ['a directory', (name) => `mkdir -p ${name}`],
  ['a device', (name) => `ln -sf /dev/zero ${name}`],
  ['a socket', (name) => `socat UNIX-LISTEN:${name} /dev/null & sleep 0.3`],
  ['an unreadable file', (name) => `echo '{}' > ${name}; chmod 000 ${name}`],
  ['an endless file', (name) => `truncate -s 200M ${name}`],
];

describe.each(workerUsers)('results of an attempt, with a worker that runs as $as', ({ user = null }) => {
  let worker: WorkerProcess;
  beforeAll(async () => {
    worker = await WorkerProcess.start({ user });
  }, 180_000);
  afterAll(() => worker?.close());

  const plan = (script: string) => {
    const executor: CommandExecutor = { kind: 'command', plan: [shell(script)], apply: [] };
    return worker.run(makeRequest({ workRoot: '', executor, phase: 'plan' }));
  };
  const apply = async (script: string, state: Buffer | null = null) => {
    const executor: CommandExecutor = { kind: 'command', plan: [shell(noChanges)], apply: [shell(script)] };
    const { result } = await worker.run(makeRequest({ workRoot: '', executor, phase: 'plan' }));
    if (!result.plan) throw new Error(`planning failed: ${JSON.stringify(result)}`);
    const { artifact, digest } = result.plan;
    return worker.run(makeRequest({ workRoot: '', executor, state, artifact, planDigest: digest }));
  };

  it.each(leads)('are refused if they are %s', async (what, make) => {
    const [planned, output, remembered] = await Promise.all([
      plan(make('plan.json')),
      apply(make('outputs.json')),
      apply(make('state.json')),
    ]);
    const mayRead = what === 'an unreadable file';
    if (!mayRead) expect(planned.result).toMatchObject({ outcome: 'failed', reason: 'plan_invalid' });
    if (!mayRead) expect(output.result).toMatchObject({ outcome: 'failed', reason: 'outputs_invalid' });
    if (!mayRead) expect(remembered.result).toMatchObject({ outcome: 'failed', reason: 'state_invalid' });
    expect(JSON.stringify([planned, output, remembered])).not.toContain(key);
    if (!mayRead) expect(remembered.sink.states).toEqual([]);
  });

  it.each([
    ['a link to a directory of the machine', `rmdir plan; ln -s ${directory} plan; ${noChanges}`],
    ['a directory that contains a link', `ln -s ${planted} plan/x; ${noChanges}`],
    ['a directory that contains a link to a directory', `mkdir -p plan/a; ln -s ${directory} plan/a/b; ${noChanges}`],
    ['a directory that contains a pipe', `mkfifo plan/x; ${noChanges}`],
  ])('are refused if the directory plan is %s', async (_, script) => {
    const { result } = await plan(script);
    expect(result).toMatchObject({ outcome: 'failed', reason: 'plan_invalid' });
    expect(JSON.stringify(result)).not.toContain(key);
  });

  it('may be hard links to one file of the template', async () => {
    const { result, sink } = await apply(
      'echo \'{"a":1}\' > x; ln x outputs.json; ln x state.json; ln /etc/passwd y || echo no-link',
    );
    expect(result).toMatchObject({ outcome: 'succeeded', outputs: { a: { value: 1 } } });
    expect(sink.text('stdout')).toContain('no-link');
  });

  it('results of a plan or detect phase contain no state, however it is offered', async () => {
    const sink = new RecordingSink();
    const script = `${noChanges}; echo '{"stored":true}' > state.json; echo '{"x":1}' > "$COORDINATOR_STATE_FILE"`;
    const executor: CommandExecutor = { kind: 'command', plan: [shell(script)], apply: [], detect: [shell(script)] };
    for (const phase of ['plan', 'detect'] as const) {
      const { result } = await worker.run(makeRequest({ workRoot: '', executor, phase }), sink);
      expect(result).toMatchObject({ outcome: 'succeeded' });
    }
    expect(sink.states).toEqual([]);
  });

  it('are read only once no process of the template can change them', async () => {
    const swap = `(while :; do ln -sfn ${planted} outputs.json; rm -f outputs.json; echo '{"a":1}' > outputs.json; done) & (setsid sh -c 'while :; do echo "{" > state.json; done' &)`;
    const { result } = await apply(`${swap}; sleep 1; echo '{"a":1}' > outputs.json; exit 0`);
    expect(JSON.stringify(result)).not.toContain(key);
    expect(['succeeded', 'failed']).toContain(result.outcome);
  });

  it('are read even if a tool keeps files open and leaves processes running', async () => {
    const startedAt = Date.now();
    const { result } = await apply(
      `exec 7>outputs.json; setsid sh -c 'exec 1>&7; sleep 616' & (sleep 617 &); echo '{"a":1}' > outputs.json; exit 0`,
    );
    expect(result).toMatchObject({ outcome: 'succeeded', outputs: { a: { value: 1 } } });
    expect(Date.now() - startedAt).toBeLessThan(30_000);
  });

  it.each(['../escape', '/etc/escape', 'a/../../escape', '..', 'a/../..', './../escape', 'x\0/../../escape'])(
    'are the failure files_invalid if a file of the template is named %j',
    async (path) => {
      const executor: CommandExecutor = {
        kind: 'command',
        files: { [path]: 'x' },
        plan: [shell(noChanges)],
        apply: [],
      };
      const { result } = await worker.run(makeRequest({ workRoot: '', executor, phase: 'plan' }));
      expect(result).toMatchObject({ outcome: 'failed', reason: 'files_invalid' });
    },
  );
});

describe('reading untrusted files', () => {
  const root = mkdtempSync(join(tmpdir(), 'coordinator-test-beneath-'));
  afterAll(() => rmSync(root, { recursive: true }));

  it('follows no link, whether in the path, at its end, or in a listing', async () => {
    symlinkSync(directory, join(root, 'away'));
    symlinkSync(planted, join(root, 'link'));
    await expect(readUntrustedFile(root, 'away/key', 1000)).rejects.toThrow(/symbolic link/);
    await expect(readUntrustedFile(root, 'link', 1000)).rejects.toThrow(/symbolic link/);
    await expect(listUntrustedFiles(root, 'away', 10)).rejects.toThrow(/symbolic link/);
    expect(await listUntrustedFiles(root, '', 10)).toEqual(
      expect.arrayContaining([{ path: 'link', isRegular: false }]),
    );
  });

  it('does not leave the directory through ".."', async () => {
    const outside = join(root, '..', `coordinator-test-outside-${process.pid}`);
    writeFileSync(outside, key);
    const found = await readUntrustedFile(root, `../coordinator-test-outside-${process.pid}`, 1000).catch(() => null);
    rmSync(outside);
    expect(found?.toString() ?? null).toBeNull();
  });

  it('reads a file with several hard links', async () => {
    writeFileSync(join(root, 'one'), 'text');
    linkSync(join(root, 'one'), join(root, 'two'));
    expect((await readUntrustedFile(root, 'two', 1000))?.toString()).toBe('text');
    await expect(readUntrustedFile(root, 'two', 3)).rejects.toThrow(/at most 3/);
    expect(await readUntrustedFile(root, 'three', 3)).toBeNull();
    expect(readdirSync(root)).toContain('two');
  });
});
