import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { watchSilence } from '#domain/shared/evaluation/silence.ts';

const minute = 60_000;
const limits = { processorMs: minute, wallMs: 10 * minute };

/** A thread that gets a share of the processor. */
function threadWith(share: number) {
  const start = performance.now();
  return {
    cpuUsage: async (before?: NodeJS.CpuUsage) => ({
      user: (performance.now() - start) * share * 1_000 - (before?.user ?? 0),
      system: 0,
    }),
  };
}

describe('an evaluation thread that does not respond', () => {
  afterEach(() => void vi.useRealTimers());

  it('is stopped within seconds after it has used its processor time', async () => {
    vi.useFakeTimers();
    const giveUp = vi.fn();
    watchSilence(threadWith(0.5), limits, giveUp);
    await vi.advanceTimersByTimeAsync(2 * minute);
    expect(giveUp).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(giveUp).toHaveBeenCalledOnce();
    expect(giveUp.mock.calls[0]?.[0]).toBeGreaterThanOrEqual(minute);
  });

  it('is not stopped while it gets little processor time, until its wall-clock limit has passed', async () => {
    vi.useFakeTimers();
    const giveUp = vi.fn();
    watchSilence(threadWith(0.01), limits, giveUp);
    await vi.advanceTimersByTimeAsync(10 * minute - 1);
    expect(giveUp).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(giveUp).toHaveBeenCalledOnce();
    await vi.advanceTimersByTimeAsync(60 * minute);
    expect(giveUp).toHaveBeenCalledOnce();
  });

  it('is stopped at its wall-clock limit if its processor time is unknown', async () => {
    vi.useFakeTimers();
    const giveUp = vi.fn();
    watchSilence({ cpuUsage: () => Promise.reject(new Error('it does not run')) }, limits, giveUp);
    await vi.advanceTimersByTimeAsync(10 * minute);
    expect(giveUp.mock.calls).toEqual([[0]]);
  });

  it('is not stopped once its watch has ended', async () => {
    vi.useFakeTimers();
    const giveUp = vi.fn();
    watchSilence(threadWith(1), limits, giveUp)();
    await vi.advanceTimersByTimeAsync(60 * minute);
    expect(giveUp).not.toHaveBeenCalled();
  });

  it.each([
    ['computes without a pause is given up by its processor time', 'for (;;);', 300],
    ['waits is given up by the clock alone', 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)', 0],
  ])('a real one that %s', async (_, code, leastMs) => {
    const worker = new Worker(code, { eval: true });
    const wallMs = leastMs > 0 ? 600_000 : 3_000;
    try {
      const used = await new Promise<number>((resolve) => watchSilence(worker, { processorMs: 300, wallMs }, resolve));
      expect(used).toBeGreaterThanOrEqual(leastMs);
      if (leastMs === 0) expect(used).toBeLessThan(300);
    } finally {
      await worker.terminate();
    }
  });
});
