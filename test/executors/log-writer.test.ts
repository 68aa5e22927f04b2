import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { LogWriter } from '#executors/output/log-writer.ts';
import type { LogChunk } from '#executors/protocol/request.ts';

function collect(limit: number | null = null) {
  const chunks: LogChunk[] = [];
  const writer: LogWriter = new LogWriter({
    phase: 'plan',
    limit,
    send: (chunk) => {
      chunks.push(chunk);
      queueMicrotask(() => writer.acknowledge(chunk.sequence));
    },
  });
  return { chunks, writer };
}

const joined = (chunks: LogChunk[]) => Buffer.concat(chunks.map(({ content }) => content));

describe('the log of an attempt', () => {
  it('is split into numbered chunks of at most 128 KB with checksums and line counts', async () => {
    const { chunks, writer } = collect();
    const text = Buffer.from(Array.from({ length: 50_000 }, (_, line) => `line ${line}\n`).join(''));
    for (let start = 0; start < text.length; start += 8_192)
      writer.write('stdout', text.subarray(start, start + 8_192));
    await writer.end();
    expect(joined(chunks)).toEqual(text);
    let line = 0;
    for (const [index, chunk] of chunks.entries()) {
      expect(chunk.sequence).toBe(index + 1);
      expect(chunk.content.length).toBeLessThanOrEqual(128 * 1024);
      expect(chunk.checksum).toBe(`sha256:${createHash('sha256').update(chunk.content).digest('hex')}`);
      expect(chunk.firstLine).toBe(line);
      line += chunk.lines;
    }
    expect(line).toBe(50_000);
    expect(chunks.length).toBeLessThan(text.length / (16 * 1024));
  });

  it('is never split inside a UTF-8 character, even if the pipe split it there', async () => {
    const { chunks, writer } = collect();
    const text = Buffer.from('aé€😀'.repeat(40_000));
    for (let start = 0; start < text.length; start += 997) writer.write('stdout', text.subarray(start, start + 997));
    await writer.end();
    expect(joined(chunks)).toEqual(text);
    expect(chunks.length).toBeGreaterThan(4);
    for (const { content } of chunks) expect(content.toString()).not.toContain('\ufffd');
  });

  it('contains NUL and malformed UTF-8 unchanged', async () => {
    const { chunks, writer } = collect();
    const bytes = Buffer.from([0, 0xff, 0xfe, 0xc3, 0x28, 0xe2, 0x82, 0x0a, 0xf0, 0x9f]);
    writer.write('stderr', bytes);
    await writer.end();
    expect(joined(chunks)).toEqual(bytes);
  });

  it('is sent within 250 ms even if little is printed', async () => {
    const { chunks, writer } = collect();
    vi.useFakeTimers();
    writer.write('stdout', Buffer.from('one line'));
    vi.advanceTimersByTime(250);
    vi.useRealTimers();
    expect(joined(chunks).toString()).toBe('one line');
    await writer.end();
    expect(chunks).toHaveLength(1);
  });

  it('contains what fits the limit, where it was truncated, and how much was dropped', async () => {
    const { chunks, writer } = collect(10);
    writer.write('stdout', Buffer.from('0123456'));
    writer.write('stdout', Buffer.from('789abcdef'));
    writer.write('stdout', Buffer.from('gh'));
    await writer.end();
    expect(joined(chunks).toString()).toBe(
      '0123456789\n[log truncated: it reached its limit of 10 bytes]\n[8 bytes of log were dropped]\n',
    );
  });

  it('makes writers wait while the worker is behind, and continues once it catches up', async () => {
    const sent: LogChunk[] = [];
    const writer = new LogWriter({ phase: 'apply', limit: null, send: (chunk) => sent.push(chunk) });
    writer.write('stdout', Buffer.alloc(2 * 1024 * 1024, 'x'));
    let isReady = false;
    const ready = writer.ready().then(() => {
      isReady = true;
    });
    await nextTurn();
    expect(isReady).toBe(false);
    for (const { sequence } of sent) writer.acknowledge(sequence);
    await ready;
    await writer.end();
  });

  it('ends without acknowledgements once it was abandoned, even if more is written', async () => {
    const sent: LogChunk[] = [];
    const writer = new LogWriter({ phase: 'apply', limit: null, send: (chunk) => sent.push(chunk) });
    writer.write('stdout', Buffer.from('before\n'));
    writer.abandon();
    writer.note('after');
    await writer.end();
    expect(joined(sent).toString()).toBe('before\nafter\n');
  });
});
