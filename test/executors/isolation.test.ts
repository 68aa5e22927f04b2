import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  findProcesses,
  makeRequest,
  makeWorkRoot,
  RecordingSink,
  requireTools,
  run,
  runScript,
  waitUntil,
} from './support.ts';

const work = makeWorkRoot();
/** What is about changing user is skipped, visibly, where that is not allowed. */
const isRoot = process.getuid?.() === 0;
afterAll(work.remove);

describe('template code', () => {
  afterEach(() => {
    for (const name of [
      'DATABASE_URL',
      'TEMPORAL_ADDRESS',
      'COORDINATOR_SECRET_KEYS',
      'AWS_SECRET_ACCESS_KEY',
      'NODE_OPTIONS',
    ])
      delete process.env[name];
  });

  it('sees nothing of the environment of its worker but the allow-list', async () => {
    process.env['DATABASE_URL'] = 'postgres://leak';
    process.env['TEMPORAL_ADDRESS'] = 'leak:7233';
    process.env['COORDINATOR_SECRET_KEYS'] = 'leak:key';
    process.env['AWS_SECRET_ACCESS_KEY'] = 'leak-cloud';
    process.env['NODE_OPTIONS'] = '--trace-warnings';
    const { sink } = await runScript(work.path, 'env; cat "/proc/$PPID/environ" | tr "\\0" "\\n"');
    expect(sink.text()).not.toMatch(/leak|NODE_OPTIONS/);
    const names = sink
      .text('stdout')
      .split('\n')
      .map((line) => line.split('=')[0]);
    expect(names).toContain('PATH');
    const foreign = names.filter(
      (name) =>
        name &&
        !/^(PATH|LANG.*|LC_.*|TZ|SSL_.*|.*_?PROXY|.*_proxy|HOME|TMPDIR|PWD|OLDPWD|SHLVL|_|NODE_COMPILE_CACHE|COORDINATOR_(ATTEMPT|PHASE|OPERATION|RUN_ID|\w+_FILE|PLAN_DIRECTORY))$/.test(
          name,
        ),
    );
    expect(foreign).toEqual([]);
  });

  it('inherits no descriptor beside its standard ones', async () => {
    const { sink } = await runScript(work.path, 'ls /proc/self/fd | tr "\\n" " "; ls -l /proc/$$/fd');
    const opened = sink.text('stdout').split('total')[1] ?? '';
    const descriptors = [...opened.matchAll(/ (\d+) -> (\S+)/g)].map(([, number, target]) => [Number(number), target]);
    expect(descriptors.filter(([number]) => Number(number) > 2)).toEqual([]);
    expect(descriptors.length).toBeGreaterThanOrEqual(3);
  });

  it('never shows a secret in the arguments of any process', async () => {
    const [tool] = await requireTools();
    if (!tool) throw new Error('no tool');
    const executor = {
      kind: 'opentofu' as const,
      files: { 'main.tf': 'variable "s" {}\nresource "terraform_data" "x" {\n  input = var.s\n}\n' },
    };
    let isSeen = false;
    const looking = setInterval(() => {
      isSeen ||= findProcesses('argv-secret-value').length > 0;
    }, 5);
    const { result } = await run(
      makeRequest({
        workRoot: work.path,
        executor,
        phase: 'plan',
        variables: { s: 'argv-secret-value' },
        sensitiveVariables: ['s'],
      }),
    );
    clearInterval(looking);
    expect(result.outcome).toBe('succeeded');
    expect(isSeen).toBe(false);
  });

  it.runIf(isRoot)('can only read what its own files say of the system, where the worker may change user', async () => {
    const keys = mkdtempSync(join(tmpdir(), 'coordinator-test-keys-'));
    writeFileSync(join(keys, 'secret-keys'), 'the-key-ring', { mode: 0o600 });
    const script = `
      id -u; id -G
      cat /proc/${process.pid}/environ && echo READ-WORKER-ENVIRON
      ls /proc/${process.pid}/fd && echo READ-WORKER-FDS
      head -c1 /proc/${process.pid}/mem && echo READ-WORKER-MEMORY
      cat /proc/$PPID/environ && echo READ-EXECUTOR-ENVIRON
      ls /proc/$PPID/fd && echo READ-EXECUTOR-FDS
      cat ${keys}/secret-keys && echo READ-KEYS
      kill -0 ${process.pid} && echo SIGNALED-WORKER
      echo x > ${process.cwd()}/written && echo WROTE-SOURCES
      exit 0`;
    const { sink } = await runScript(work.path, script);
    rmSync(keys, { recursive: true });
    const text = sink.text('stdout');
    expect(text).not.toMatch(/READ|SIGNALED|WROTE|the-key-ring/);
    const [uid, groups] = text.split('\n');
    expect(Number(uid)).toBeGreaterThan(0);
    expect(groups).toBe(uid);
  });

  it.runIf(isRoot)('cannot enter the directory of another attempt, nor find out which there are', async () => {
    const sink = new RecordingSink();
    const abort = new AbortController();
    const other = runScript(work.path, 'echo private > mine; id -u; pwd; sleep 30', {}, sink, abort.signal);
    await sink.saw('/work\n');
    const [uid, place = ''] = sink.text('stdout').split('\n');
    const spy = await runScript(
      work.path,
      `id -u; ls ${place}; cat ${place}/mine ${place}/variables.json; ls ${work.path}; exit 0`,
    );
    expect(spy.sink.text('stdout')).toMatch(/^\d+\n$/);
    expect(spy.sink.text('stdout').trim()).not.toBe(uid);
    expect(readFileSync(join(place, 'mine'), 'utf8')).toBe('private\n');
    abort.abort();
    await other;
  });

  it('leaves nothing behind, whatever it does to its directory', async () => {
    const { result } = await runScript(
      work.path,
      'mkdir -p a/b/c; touch a/b/c/f; chmod 000 a/b/c; chmod 500 a/b; chmod 000 a; mkdir -p "$HOME/x"; ln -s /etc/passwd link; exit 0',
    );
    expect(result.outcome).toBe('succeeded');
    expect(readdirSync(work.path)).toEqual([]);
  });

  it.runIf(isRoot)('leaves nothing where everybody may write, and nothing that is too deep to be named', async () => {
    const name = `coordinator-test-stray-${process.pid}`;
    const deep =
      'i=0; d=0123456789012345678901234567890123456789; while [ $i -lt 120 ]; do mkdir $d; cd $d; i=$((i+1)); done';
    const { result } = await runScript(work.path, `mkdir -p /tmp/${name}/x; touch /var/tmp/${name}; (${deep}); exit 0`);
    expect(result.outcome).toBe('succeeded');
    const isGone = () => !existsSync(`/tmp/${name}`) && !existsSync(`/var/tmp/${name}`);
    await waitUntil(isGone, 'what was left outside of the directory was removed');
    expect(readdirSync(work.path)).toEqual([]);
  });

  it('works where its user cannot reach the directory for attempts', async () => {
    const closed = mkdtempSync(join(tmpdir(), 'coordinator-test-closed-'));
    mkdirSync(join(closed, 'data'));
    const { result, sink } = await runScript(
      join(closed, 'data', 'work'),
      'pwd; echo x > "$PWD/file"; cat "$PWD/file"',
    );
    rmSync(closed, { recursive: true });
    expect(result).toMatchObject({ outcome: 'succeeded' });
    expect(sink.text('stdout')).toContain('\nx\n');
  });

  it.runIf(isRoot)('runs as the user that the request names, and as no other', async () => {
    const { sink } = await runScript(work.path, 'id -u; id -g; id -G', { user: { uid: 12_345, gid: 12_346 } });
    expect(sink.text('stdout')).toBe('12345\n12346\n12346\n');
  });
});
