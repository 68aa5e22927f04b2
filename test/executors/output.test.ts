import { afterAll, describe, expect, it } from 'vitest';
import type { ExecutionSink, LogChunk } from '#executors/protocol/request.ts';
import { makeRequest, makeWorkRoot, RecordingSink, roomyLimits, run, runScript, shell } from './support.ts';

const work = makeWorkRoot();
afterAll(work.remove);

describe('the output of an attempt', () => {
  it('stops the attempt when it exceeds the limit, and is kept up to the limit', async () => {
    const { result, sink } = await runScript(work.path, 'yes 0123456789012345678901234567890', {
      limits: { ...roomyLimits, outputBytes: 1024 * 1024 },
    });
    expect(result).toMatchObject({ outcome: 'limit_exceeded', reason: 'output_limit' });
    expect(sink.bytes('stdout').length).toBe(1024 * 1024);
    expect(sink.text('system')).toContain('[output ended: it reached its limit of 1048576 bytes]');
  });

  it('is truncated without stopping the attempt when only the log has a limit', async () => {
    const { result, sink } = await runScript(work.path, 'yes 0123456789 | head -c 3000000; echo; echo the-end', {
      limits: { ...roomyLimits, logBytes: 100_000 },
    });
    expect(result.outcome).toBe('succeeded');
    expect(sink.bytes('stdout').length).toBe(100_000);
    expect(sink.text('system')).toMatch(
      /log truncated: it reached its limit of 100000 bytes[\s\S]*29\d+ bytes of log were dropped/,
    );
  });

  it('makes the program wait, instead of filling memory, while the log is stored slowly', async () => {
    const sink = new SlowSink();
    const executor = {
      kind: 'command' as const,
      apply: [],
      detect: [shell('head -c 20000000 /dev/zero | tr "\\0" "x"; echo "[]" > plan.json')],
    };
    let max = 0;
    const watching = setInterval(() => {
      max = Math.max(max, sink.waiting);
    }, 5);
    const { result } = await run(makeRequest({ workRoot: work.path, executor, phase: 'detect' }), sink);
    clearInterval(watching);
    expect(result.outcome).toBe('succeeded');
    expect(sink.bytes('stdout').length).toBe(20_000_000);
    expect(max).toBeLessThanOrEqual(3 * 1024 * 1024);
  });

  it('is complete and in the order of the steps even if the log is stored very slowly', async () => {
    const sink = new RecordingSink();
    const store = sink.log.bind(sink);
    sink.log = async (chunk) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      await store(chunk);
    };
    const big = shell('head -c 3000000 /dev/zero | tr "\\0" "x"', { name: 'big' });
    const last = shell('echo "[]" > plan.json; echo the-end', { name: 'last' });
    const executor = { kind: 'command' as const, apply: [], detect: [big, last] };
    const { result } = await run(makeRequest({ workRoot: work.path, executor, phase: 'detect' }), sink);
    expect(result.outcome).toBe('succeeded');
    expect(sink.text()).toMatch(/^step big\nx{3000000}\nstep last\nthe-end\n$/);
  });

  it('is stored completely at a size of two hundred megabytes', async () => {
    const sink = new CountingSink();
    const executor = {
      kind: 'command' as const,
      apply: [],
      detect: [shell('yes 012345678901234567890123456789 | head -c 200000000; echo "[]" > plan.json')],
    };
    const changes = { variables: { s: 'a-secret-to-look-for' }, sensitiveVariables: ['s'] };
    const before = process.memoryUsage().rss;
    const limits = { ...roomyLimits, outputBytes: 1024 ** 3 };
    const { result } = await run(
      makeRequest({ workRoot: work.path, executor, phase: 'detect', limits, ...changes }),
      sink,
    );
    expect(result.outcome).toBe('succeeded');
    expect(sink.total).toBe(200_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  it('stops the attempt when it cannot be stored', async () => {
    const sink: ExecutionSink = { log: () => Promise.reject(new Error('superseded')), state: async () => undefined };
    const { result } = await runScript(work.path, 'echo one; sleep 30', {}, Object.assign(new RecordingSink(), sink));
    expect(result).toMatchObject({ outcome: 'failed', reason: 'logs_not_saved' });
  });

  it('is stored as it was printed, including NUL and malformed UTF-8', async () => {
    const { sink } = await runScript(
      work.path,
      "printf 'a\\000b\\377\\303(\\342\\202\\254'; printf '\\360\\237'; sleep 0.5; printf '\\230\\200'",
    );
    const expected = Buffer.concat([Buffer.from([0x61, 0, 0x62, 0xff, 0xc3, 0x28]), Buffer.from('€😀')]);
    expect(sink.bytes('stdout')).toEqual(expected);
  });

  it('does not contain a secret that a program printed in two pieces with a pause between them', async () => {
    const { sink } = await runScript(
      work.path,
      "printf 'x=split-'; sleep 0.6; printf 'secret-value;'; base64 -w0 <<'X'\nuser:split-secret-value\nX",
      {
        variables: { s: 'split-secret-value' },
        sensitiveVariables: ['s'],
      },
    );
    expect(sink.text('stdout')).toMatch(/^x=\[redacted\];dXNlcj\S*\[redacted\]\S{0,4}$/);
  });
});

class SlowSink extends RecordingSink {
  waiting = 0;

  override async log(chunk: LogChunk): Promise<void> {
    this.waiting += chunk.content.length;
    await new Promise((resolve) => setTimeout(resolve, 5));
    this.waiting -= chunk.content.length;
    await super.log(chunk);
  }
}

class CountingSink extends RecordingSink {
  total = 0;

  override async log(chunk: LogChunk): Promise<void> {
    if (chunk.stream === 'stdout') this.total += chunk.content.length;
  }
}
