import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { FairLimit } from '#api/edge/limits/fair-limit.ts';

const one = (name: string) => ({ person: name, owner: name });
const forever = () => new Promise<void>(() => {});

describe('a fair limit', () => {
  it("runs one task of each person at a time, so that many tasks of one do not delay another's task", async () => {
    const limit = new FairLimit({ running: 2, waiting: 10 });
    const begun: string[] = [];
    const task = (name: string) => async () => void begun.push(name);
    void limit.run(one('busy'), forever);
    void limit.run(one('busy'), task('busy'));
    await limit.run(one('other'), task('other'));
    expect(begun).toEqual(['other']);
  });

  it('runs no more tasks than its limit, and the next one once one has ended or failed', async () => {
    const limit = new FairLimit({ running: 2, waiting: 10 });
    let running = 0;
    let max = 0;
    const task = async () => {
      running += 1;
      max = Math.max(max, running);
      await nextTurn();
      running -= 1;
      if (max === 2) throw new Error('it fails');
    };
    const ended = await Promise.allSettled(Array.from({ length: 12 }, (_, index) => limit.run(one(`${index}`), task)));
    expect([max, ended.length]).toEqual([2, 12]);
  });

  it('refuses a task of a person with too many waiting tasks, with 429 and the time to wait', async () => {
    const limit = new FairLimit({ running: 1, waiting: 1 });
    void limit.run(one('busy'), forever);
    void limit.run(one('busy'), forever);
    await expect(limit.run(one('busy'), forever)).rejects.toMatchObject({
      statusCode: 429,
      headers: { 'retry-after': '2' },
    });
  });
});
