import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  findProcesses,
  makeRequest,
  makeWorkRoot,
  openTestExecutor,
  RecordingSink,
  requireTools,
  run,
  runScript,
} from './support.ts';

const work = makeWorkRoot();
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

  it("sees only the allow-list of the worker's environment", async () => {
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

  it('inherits no descriptors other than its standard ones', async () => {
    const { sink } = await runScript(work.path, 'ls /proc/self/fd | tr "\\n" " "; ls -l /proc/$$/fd');
    const opened = sink.text('stdout').split('total')[1] ?? '';
    const descriptors = [...opened.matchAll(/ (\d+) -> (\S+)/g)].map(([, number, target]) => [Number(number), target]);
    expect(descriptors.filter(([number]) => Number(number) > 2)).toEqual([]);
    expect(descriptors.length).toBeGreaterThanOrEqual(3);
  });

  it('passes no secret in the arguments of any process', async () => {
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

  it('can neither enter nor list the directories of other attempts', async () => {
    const sink = new RecordingSink();
    const abort = new AbortController();
    const other = runScript(work.path, 'echo private > mine; echo ready; sleep 30', {}, sink, abort.signal);
    await sink.saw('ready');
    const attempts = listAttempts();
    const spy = await runScript(
      work.path,
      `ls ${work.path} ${attempts.join(' ')}; find / -name mine -exec cat {} + 2>/dev/null; cat /proc/*/cwd/mine; exit 0`,
    );
    abort.abort();
    await other;
    expect(attempts).toHaveLength(1);
    expect(spy.sink.text('stdout')).toBe('');
  });

  it('leaves no files, even if it makes its own directories inaccessible', async () => {
    const { result } = await runScript(
      work.path,
      'mkdir -p a/b/c; touch a/b/c/f; chmod 000 a/b/c; chmod 500 a/b; chmod 000 a; mkdir -p "$HOME/x"; ln -s /etc/passwd link; exit 0',
    );
    expect(result.outcome).toBe('succeeded');
    expect(listAttempts()).toEqual([]);
  });

  it("leaves no files in shared temporary directories, and no paths longer than the system's limit", async () => {
    const name = `coordinator-test-stray-${process.pid}`;
    const deep =
      'i=0; d=0123456789012345678901234567890123456789; while [ $i -lt 120 ]; do mkdir $d; cd $d; i=$((i+1)); done';
    const { result } = await runScript(work.path, `mkdir -p /tmp/${name}/x; touch /var/tmp/${name}; (${deep}); exit 0`);
    expect(result.outcome).toBe('succeeded');
    expect([`/tmp/${name}`, `/var/tmp/${name}`].filter((path) => existsSync(path))).toEqual([]);
    expect(listAttempts()).toEqual([]);
  });

  it("leaves no paths longer than the system's limit without a sandbox either", async () => {
    const deep =
      'i=0; d=0123456789012345678901234567890123456789; while [ $i -lt 120 ]; do mkdir $d; cd $d; i=$((i+1)); done';
    const { result } = await runScript(work.path, `mkdir closed; (cd closed; ${deep}); chmod 000 closed; exit 0`, {
      choice: { isolation: 'none' },
    });
    expect(result.outcome).toBe('succeeded');
    expect(listAttempts()).toEqual([]);
  });

  it("runs even if the host's user cannot reach the executor's directory", async () => {
    const closed = mkdtempSync(join(tmpdir(), 'coordinator-test-closed-'));
    mkdirSync(join(closed, 'data'));
    const directory = join(closed, 'data', 'work');
    const { result, sink } = await runScript(directory, 'pwd; echo x > "$PWD/file"; cat "$PWD/file"');
    await (await openTestExecutor(directory)).close();
    rmSync(closed, { recursive: true });
    expect(result).toMatchObject({ outcome: 'succeeded' });
    expect(sink.text('stdout')).toBe('/work\nx\n');
  });

  it("has the sandbox's user and host name, whatever user the worker runs as", async () => {
    const { sink } = await runScript(work.path, 'id -u; id -g; id -un; hostname; pwd; echo $HOME');
    expect(sink.text('stdout')).toBe('1000\n1000\nsandbox\nsandbox\n/work\n/tmp/home\n');
  });
});

/** Directories of attempts that are running or were left behind. */
function listAttempts(): string[] {
  const hosts = readdirSync(work.path).filter((name) => name.startsWith('host-'));
  const names = hosts.flatMap((host) => readdirSync(join(work.path, host)).map((name) => join(work.path, host, name)));
  return names.filter((path) => path.includes('/attempt-'));
}
