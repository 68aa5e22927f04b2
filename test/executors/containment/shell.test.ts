import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandExecutor } from '#executors/protocol/request.ts';
import { quote } from '#executors/sandbox/script.ts';
import { makeRequest, shell } from '../support.ts';
import { WorkerProcess, workerUsers } from '../worker/worker-process.ts';

/** A run's values reach its programs unchanged, and affect nothing before or outside them. */
const directory = mkdtempSync(join(tmpdir(), 'coordinator-test-shell-'));
chmodSync(directory, 0o777);
const trace = join(directory, 'trace');
/** A script and a library that leave a trace if anything outside the sandbox loads them. */
const traps = join(directory, 'trap.sh');
const library = join(directory, 'trap.so');
writeFileSync(traps, `echo loaded >> ${trace}\n`, { mode: 0o755 });

function hasCompiler(): boolean {
  try {
    const source = `#include <fcntl.h>\n#include <unistd.h>\n__attribute__((constructor)) void trap(void) { int f = open("${trace}", O_CREAT | O_WRONLY, 0666); if (f >= 0) close(f); }`;
    execFileSync('cc', ['-shared', '-fPIC', '-x', 'c', '-o', library, '-'], {
      input: source,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    chmodSync(library, 0o755);
    return true;
  } catch {
    return false;
  }
}
const canTrapLinker = hasCompiler();
afterAll(() => rmSync(directory, { recursive: true }));

const evil = [
  `'; touch ${trace}; '`,
  `"; touch ${trace}; "`,
  `$(touch ${trace})`,
  `\`touch ${trace}\``,
  `\n touch ${trace}\n`,
  `' >&3; echo end 0 0 >&3; '`,
  `\n\necho ready >&3\n`,
  `EOF\ntouch ${trace}\nEOF`,
  '\\',
  "'",
  "'\\''",
  '-n',
  '--',
  '*',
  '~',
  '!',
  ' ',
  '\t',
  '#',
  '&& true',
  '\u0001\u0002\u007f',
  'é😀\u2028\ufeff',
  'x'.repeat(20_000),
];

/** Random texts of characters that are special to a shell, without NUL. */
function randomTexts(count: number): string[] {
  const alphabet = [
    "'",
    '"',
    '\\',
    '$',
    '`',
    '\n',
    '\r',
    ';',
    '&',
    '|',
    '<',
    '>',
    '(',
    ')',
    '{',
    '}',
    '*',
    '?',
    ' ',
    '\t',
    '%',
    '!',
    '#',
    '~',
    '=',
    'a',
    'é',
    '\u0001',
    '\u{1f600}',
  ];
  return Array.from({ length: count }, () => {
    const picked = [...randomBytes(1 + ((randomBytes(1)[0] ?? 0) % 40))].map(
      (byte) => alphabet[byte % alphabet.length],
    );
    return picked.join('');
  });
}

it('quoting any text for a shell gives the same text back', () => {
  const texts = [...evil, ...randomTexts(200)];
  const script = texts.map((text) => `printf '%s\\0' ${quote(text)}`).join('\n');
  const printed = execFileSync('sh', ['-s'], { input: script, maxBuffer: 2 ** 24 }).toString();
  expect(printed.split('\0').slice(0, -1)).toEqual(texts);
});

describe.each(workerUsers)("a run's values, with a worker that runs as $as", ({ user = null }) => {
  let worker: WorkerProcess;
  beforeAll(async () => {
    worker = await WorkerProcess.start({ user });
  }, 180_000);
  afterAll(() => worker?.close());

  it.each([{ isolation: 'sandbox' as const }, { isolation: 'none' as const }])(
    'reach its steps unchanged in arguments, variables and files, with isolation "$isolation"',
    async ({ isolation }) => {
      const own = isolation === 'sandbox' ? worker : await WorkerProcess.start({ user, isolation });
      const texts = [...evil, ...randomTexts(30)];
      const names = texts
        .map((text) => text.replaceAll('/', '_').slice(0, 60).trim())
        .filter((name) => /[^.]/.test(name));
      const files = Object.fromEntries([...new Set(names)].map((name) => [`files/${name}`, name]));
      const environment = texts.map((value, index) => ({ name: `GIVEN_${index}`, value, sensitive: false }));
      const stepEnvironment = Object.fromEntries(texts.map((text, index) => [`STEP_${index}`, text]));
      const print = (what: string) => ['perl', '-e', what];
      const detect = [
        { name: 'arguments', run: [...print('print "A$_\\0" for @ARGV'), '--', ...texts] },
        {
          name: 'environment',
          env: stepEnvironment,
          run: print(
            'for $k ("GIVEN", "STEP", "COORDINATOR_VAR_V") { print "$k$ENV{$k . q(_) . $_}\\0" for 0 .. 199 }',
          ),
        },
        {
          name: 'files',
          run: print(
            'for (glob_all("files")) { } sub glob_all { opendir my $d, $_[0]; for my $n (sort readdir $d) { next if $n =~ /^\\.\\.?$/; open my $f, "<", "files/$n"; local $/; my $c = <$f>; print "F$n=$c\\0" } }',
          ),
        },
        shell('echo [] > plan.json'),
      ];
      const variables = Object.fromEntries(texts.map((text, index) => [`v_${index}`, text]));
      const executor: CommandExecutor = { kind: 'command', files, apply: [], detect };
      const { result, sink } = await own.run(
        makeRequest({ workRoot: '', executor, phase: 'detect', environment, variables }),
      );
      if (own !== worker) await own.close();
      expect(result).toMatchObject({ outcome: 'succeeded' });
      const printed = new Set(sink.text('stdout').split('\0'));
      const kinds = ['A', 'GIVEN', 'STEP', 'COORDINATOR_VAR_V'];
      const missing = texts.flatMap((text) => kinds.map((kind) => kind + text).filter((line) => !printed.has(line)));
      expect(missing).toEqual([]);
      expect(Object.values(files).filter((name) => !printed.has(`F${name}=${name}`))).toEqual([]);
      expect(existsSync(trace)).toBe(false);
    },
  );

  it.each([
    ['LD_PRELOAD', library],
    ['LD_AUDIT', library],
    ['LD_LIBRARY_PATH', directory],
    ['BASH_ENV', traps],
    ['ENV', traps],
    ['PATH', directory],
    ['SHELLOPTS', 'xtrace'],
    ['PS4', `$(touch ${trace})`],
    ['IFS', 'e'],
    ['PERL5OPT', `-M-e -I${directory}`],
    ['NODE_OPTIONS', `--require ${traps}`],
    ['GCONV_PATH', directory],
    ['BASH_FUNC_echo%%', `() { touch ${trace}; }`],
  ])('change nothing outside the sandbox through the variable %s', async (name, value) => {
    for (const program of ['sh', 'bwrap', 'mkfifo', 'socat'])
      writeFileSync(join(directory, program), `#!/bin/sh\ntouch ${trace}\n`, { mode: 0o755 });
    const environment = [{ name, value, sensitive: false }];
    const { result } = await worker.runScript('/bin/sh -c true; exit 0', { environment });
    expect(existsSync(trace)).toBe(false);
    expect(['succeeded', 'failed']).toContain(result.outcome);
    expect((await worker.runScript('true')).result).toMatchObject({ outcome: 'succeeded' });
  });

  it('would leave a trace if a library or a script were loaded outside', () => {
    if (canTrapLinker) execFileSync('true', { env: { LD_PRELOAD: library } });
    else execFileSync('bash', ['-c', 'true'], { env: { BASH_ENV: traps, PATH: process.env['PATH'] } });
    expect(existsSync(trace)).toBe(true);
    rmSync(trace);
  });

  it('cannot fake the events of the script that runs them', async () => {
    const script =
      'for f in 3 4 5 6; do echo "end 0 0" >&$f; echo ready >&$f; done 2>/dev/null; for p in /proc/[0-9]*; do for f in 3 4 5; do echo "end 7 0" > $p/fd/$f; done; done 2>/dev/null; exit 9';
    const executor: CommandExecutor = {
      kind: 'command',
      apply: [],
      detect: [shell(script), shell('echo never; echo [] > plan.json', { name: 'second' })],
    };
    const { result, sink } = await worker.run(makeRequest({ workRoot: '', executor, phase: 'detect' }));
    expect(result).toMatchObject({ outcome: 'failed', reason: 'step_failed' });
    expect(sink.text()).not.toContain('never');
  });
});
