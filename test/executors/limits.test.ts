import { afterAll, describe, expect, it } from 'vitest';
import type { ExecutionLimits } from '#executors/protocol/request.ts';
import { type ExecutorChoice, findProcesses, makeWorkRoot, RecordingSink, roomyLimits, runScript } from './support.ts';

const work = makeWorkRoot();
afterAll(work.remove);

const mebibyte = 1024 * 1024;
/** Takes memory step by step, and prints a line if nothing stops it. */
const takeMemory = (mebibytes: number) =>
  `perl -e 'my @held; for (1..${mebibytes}) { push @held, "x" x 1048576; select undef, undef, undef, 0.005 } print "took-it-all\\n"'`;
const writeInto = (directory: string) => `head -c 30000000 /dev/zero > ${directory}/big; echo wrote; sleep 20`;
const openFiles =
  'perl -e \'my @open; for (1..500) { open my $file, "<", "/dev/null" or last; push @open, $file } print scalar @open, "\\n"; $| = 1; sleep 20\'';
const spin = 'while :; do :; done';

interface Choice extends ExecutorChoice {
  readonly what: string;
}
const sandboxes: Choice[] = [
  { what: 'in a control group', isolation: 'sandbox' },
  { what: 'without control groups', isolation: 'sandbox', usesGroups: false },
];
const unsandboxed: Choice = { what: 'without a sandbox', isolation: 'none', usesGroups: false };

async function exceed(choice: ExecutorChoice, script: string, limits: Partial<ExecutionLimits>) {
  const changes = { choice, limits: { ...roomyLimits, ...limits } };
  const { result, sink } = await runScript(work.path, script, changes);
  return { result, text: sink.text('stdout') };
}

describe.each([...sandboxes, unsandboxed])('an attempt $what', (choice) => {
  it('ends with memory_limit when one process stays above the limit', async () => {
    const script = `perl -e 'open my $zeros, "<", "/dev/zero"; read $zeros, my $held, 73000000; sleep 20'`;
    const { result } = await exceed(choice, script, { memoryBytes: 64 * mebibyte });
    expect(result).toMatchObject({ outcome: 'limit_exceeded', reason: 'memory_limit' });
  });

  it('cannot take much more memory than the limit, however quickly it asks', async () => {
    const { text } = await exceed(choice, `${takeMemory(300)}; exit 0`, { memoryBytes: 64 * mebibyte });
    expect(text).not.toContain('took-it-all');
  });

  it('ends with memory_limit when many small processes exceed the limit together', async () => {
    const each = 'perl -e \'my $held = "x" x 20000000; sleep 20\' &';
    const { result } = await exceed(choice, `${each.repeat(6)} wait`, { memoryBytes: 64 * mebibyte });
    expect(result).toMatchObject({ outcome: 'limit_exceeded', reason: 'memory_limit' });
  });

  it('ends with cpu_limit when its processes together use too much processor time', async () => {
    const { result } = await exceed(choice, `(${spin}) & (${spin}) & wait`, { cpuSeconds: 1 });
    expect(result).toMatchObject({ outcome: 'limit_exceeded', reason: 'cpu_limit' });
  });

  it('ends with open_files_limit when one process opens too many files', async () => {
    const { result, text } = await exceed(choice, openFiles, { openFiles: 64 });
    expect(result).toMatchObject({ outcome: 'limit_exceeded', reason: 'open_files_limit' });
    expect(Number(text.trim() || 0)).toBeLessThan(64);
  });

  it('ends with process_limit when it starts too many processes, and none of them survives', async () => {
    const script = 'i=0; while [ $i -lt 60 ]; do sleep 4200123 & i=$((i+1)); done; wait';
    const { result } = await exceed(choice, script, { processes: 20 });
    expect(result).toMatchObject({ outcome: 'limit_exceeded', reason: 'process_limit' });
    expect(findProcesses('4200123')).toEqual([]);
  });

  it.each(['.', '$HOME', '$TMPDIR'])('ends with directory_limit when it fills %s', async (directory) => {
    const { result } = await exceed(choice, writeInto(directory), { directoryBytes: 10 * mebibyte });
    expect(result).toMatchObject({ outcome: 'limit_exceeded', reason: 'directory_limit' });
  });

  it('ends with directory_limit when it fills a directory that it made unreadable', async () => {
    const script = 'mkdir hidden; head -c 30000000 /dev/zero > hidden/big; chmod 000 hidden; sleep 20';
    const { result } = await exceed(choice, script, { directoryBytes: 10 * mebibyte });
    expect(result).toMatchObject({ outcome: 'limit_exceeded', reason: 'directory_limit' });
  });

  it('ends with time_limit when it takes too long', async () => {
    const { result } = await runScript(work.path, 'sleep 20', { choice, timeoutMs: 1_000 });
    expect(result).toMatchObject({ outcome: 'timed_out', reason: 'time_limit' });
  });

  it('ends with output_limit when it prints too much', async () => {
    const { result } = await exceed(choice, 'yes', { outputBytes: mebibyte });
    expect(result).toMatchObject({ outcome: 'limit_exceeded', reason: 'output_limit' });
  });

  it('succeeds below all limits', async () => {
    const script = 'head -c 5000000 /dev/zero > big; for i in 1 2 3; do sleep 0.1 & done; wait; echo done';
    const limits = { memoryBytes: 64 * mebibyte, directoryBytes: 10 * mebibyte, openFiles: 64, processes: 20 };
    const { result, text } = await exceed(choice, script, { ...limits, cpuSeconds: 20 });
    expect(result).toMatchObject({ outcome: 'succeeded', reason: null });
    expect(text).toBe('done\n');
  });
});

describe.each(sandboxes)('a sandbox $what', (choice) => {
  it.each(['/tmp', '/var/tmp', '/dev/shm'])('ends with directory_limit when %s alone is full', async (directory) => {
    const { result } = await exceed(choice, writeInto(directory), { directoryBytes: 10 * mebibyte });
    expect(result).toMatchObject({ outcome: 'limit_exceeded', reason: 'directory_limit' });
  });

  it('ends with directory_limit when its directories together exceed the limit', async () => {
    const fill = (directory: string) => `head -c 6000000 /dev/zero > ${directory}/big`;
    const script = `${['/work', '/tmp', '/dev/shm'].map(fill).join('; ')}; sleep 20`;
    const { result } = await exceed(choice, script, { directoryBytes: 10 * mebibyte });
    expect(result).toMatchObject({ outcome: 'limit_exceeded', reason: 'directory_limit' });
  });

  it('never stores much more than the limit, however quickly it is filled', async () => {
    const script = 'for d in /work /tmp /dev/shm; do fallocate -l 500M $d/big; stat -c %s $d/big; done; exit 0';
    const { text } = await exceed(choice, script, { directoryBytes: 10 * mebibyte });
    const sizes = text.trim().split('\n').map(Number);
    expect(sizes).toHaveLength(3);
    for (const size of sizes) expect(size).toBeLessThanOrEqual(10 * mebibyte);
  });

  it('counts files in memory as memory', async () => {
    const script = 'head -c 200000000 /dev/zero > /tmp/big && echo wrote-it-all; sleep 20';
    const { result, text } = await exceed(choice, script, { memoryBytes: 64 * mebibyte });
    expect(result).toMatchObject({ outcome: 'limit_exceeded', reason: 'memory_limit' });
    if (choice.usesGroups !== false) expect(text).not.toContain('wrote-it-all');
  });

  it('counts System V shared memory as memory, or refuses it', async () => {
    const script = `perl -e '$id = shmget(0, 200000000, 0600) // exit; for ($i = 0; $i < 200; $i++) { shmwrite($id, "x" x 1000000, $i * 1000000, 1000000) or die $! } $| = 1; print "took-it-all\\n"; sleep 5'; exit 0`;
    const { result, text } = await exceed(choice, script, { memoryBytes: 64 * mebibyte });
    if (result.outcome === 'succeeded') expect(text).not.toContain('took-it-all');
    else expect(result).toMatchObject({ outcome: 'limit_exceeded', reason: 'memory_limit' });
  });

  it('can share anonymous memory only in a control group, because only that counts it completely', async () => {
    const map = process.arch === 'arm64' ? 222 : 9;
    const tried = [
      'open(my $zero, "+<", "/dev/zero") or die $!; read $zero, my $read, 3; print $read eq "\\0\\0\\0" ? "zeros\\n" : "no zeros\\n";',
      ...[
        [0x21, '-1'],
        [0x01, 'fileno $zero'],
        [0x22, '-1'],
      ].map(
        ([flags, file]) =>
          `print syscall(${map}, 0, 200000000, 3, ${flags}, ${file}, 0) == -1 ? "refused\\n" : "mapped\\n";`,
      ),
    ];
    const { text } = await exceed(choice, `perl -e '${tried.join(' ')}'; exit 0`, {});
    const shared = choice.usesGroups === false ? 'refused' : 'mapped';
    expect(text.trim().split('\n')).toEqual(['zeros', shared, shared, 'mapped']);
  });

  it("is not charged for the content of the machine's own directories", async () => {
    // The machine's own /tmp, which has the same path in the sandbox, holds more than this limit.
    const limits = { directoryBytes: mebibyte };
    const many = await Promise.all([1, 2, 3, 4, 5, 6].map(() => exceed(choice, 'sleep 0.3', limits)));
    for (const { result } of many) expect(result).toMatchObject({ outcome: 'succeeded', reason: null });
  });

  it('survives a fork bomb: it ends with process_limit, and other attempts run meanwhile', async () => {
    const bomb = exceed(choice, `perl -e 'fork while 1' 4200124; sleep 20`, { processes: 40 });
    const other = await runScript(work.path, 'echo served', { choice }, new RecordingSink());
    expect(other.result).toMatchObject({ outcome: 'succeeded' });
    expect((await bomb).result).toMatchObject({ outcome: 'limit_exceeded', reason: 'process_limit' });
    expect(findProcesses('4200124')).toEqual([]);
  });
});
