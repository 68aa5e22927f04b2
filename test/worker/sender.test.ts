import pino from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { LocalSignals } from '#test/support/signals.ts';
import { Sender } from '#worker/background/sending/sender.ts';

interface Job {
  readonly lane: 'only';
  readonly id: number;
}

const senders: Sender<Job>[] = [];
afterEach(() => Promise.all(senders.splice(0).map((sender) => sender.stop())));

/** A sender for a queue of jobs, one at a time: while one is sent, nothing else can be leased. */
function open(signals: LocalSignals, waiting: Job[], sent: number[]): void {
  let isLeased = false;
  const sender = new Sender<Job>({
    log: pino({ level: 'silent' }),
    signals,
    topic: 'jobs',
    lanes: { only: { places: 4, waitsMs: null } },
    maxWaiting: 0,
    lease: async () => {
      const job = isLeased ? undefined : waiting.shift();
      isLeased ||= job !== undefined;
      return job ? [job] : [];
    },
    send: async ({ id }) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      sent.push(id);
      isLeased = false;
    },
    failures: { lease: 'could not lease', send: 'could not send' },
    idsOf: ({ id }) => ({ id }),
  });
  senders.push(sender);
  sender.start();
}

const job = (id: number): Job => ({ lane: 'only', id });

describe('a sender', () => {
  it('sends what waits when it starts, and one after another what a job kept from being leased', async () => {
    const sent: number[] = [];
    open(new LocalSignals(), [job(1), job(2), job(3)], sent);
    await expect.poll(() => sent, { timeout: 5_000 }).toEqual([1, 2, 3]);
  });

  it('sends what is due later as soon as a signal says so', async () => {
    const signals = new LocalSignals();
    const waiting: Job[] = [];
    const sent: number[] = [];
    open(signals, waiting, sent);
    await new Promise((resolve) => setTimeout(resolve, 200));
    waiting.push(job(1));
    signals.signal(['jobs']);
    await expect.poll(() => sent, { timeout: 5_000 }).toEqual([1]);
  });
});
