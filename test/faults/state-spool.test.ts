import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import type { StateOutcome } from '#domain/runs/attempts/state.ts';
import type { AttemptState } from '#domain/runs/attempts/writes.ts';
import { AttemptWriteRefused } from '#domain/runs/errors.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { StateSpool, type StateSpoolDeps } from '#worker/states/state-spool.ts';

const root = mkdtempSync(join(tmpdir(), 'coordinator-spool-'));
afterAll(() => rm(root, { recursive: true, force: true }));

const keyRing = new KeyRing([{ id: 'test', key: Buffer.alloc(32, 7) }]);
const unreachable = () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
let directories = 0;

const sqlError = (code: string) => Object.assign(new Error(`an error with the code ${code}`), { code });

/** A spool of one worker. `save` replaces the database. */
function open(
  directory: string,
  save: (state: AttemptState) => Promise<StateOutcome>,
  more: Partial<StateSpoolDeps> = {},
): StateSpool {
  return new StateSpool({
    directory,
    keyRing,
    save,
    recordRefusal: async () => undefined,
    log: pino({ level: 'silent' }),
    ...more,
  });
}
const makeDirectory = () => join(root, String(++directories));
const state = (attemptId: string, write: number) => ({
  attemptId,
  write,
  content: Buffer.from(`state ${write}`),
});

describe('the spool of states', () => {
  it('lets a tool continue while the database is unreachable, and stores its states in order afterwards', async () => {
    const attemptId = randomUUID();
    const saved: number[] = [];
    let isUnreachable = true;
    const spool = open(makeDirectory(), async ({ write }) => {
      if (isUnreachable) return unreachable();
      saved.push(write);
      return 'kept';
    });
    for (const write of [1, 2, 3]) await spool.add(state(attemptId, write));
    expect(saved).toEqual([]);
    isUnreachable = false;
    await spool.settle(attemptId);
    expect(saved).toEqual([1, 2, 3]);
  });

  it.each(['25006', 'EAI_AGAIN', 'ENETUNREACH', '57P04', '08007'])(
    'keeps a state on disk, and stores it later, if the database fails with %s for longer than it may refuse a state',
    async (code) => {
      const directory = makeDirectory();
      const attemptId = randomUUID();
      const failures = [sqlError(code), sqlError(code)];
      let refusals = 0;
      const save = async (): Promise<StateOutcome> => {
        const failure = failures.pop();
        if (failure) throw failure;
        return 'kept';
      };
      const spool = open(directory, save, { giveUpAfterMs: 0 });
      await spool.add(state(attemptId, 1), () => void refusals++);
      expect(readdirSync(directory)).toEqual([`${attemptId}.000001`]);
      expect(await spool.settle(attemptId)).toBe('settled');
      expect({ refusals, files: readdirSync(directory) }).toEqual({ refusals: 0, files: [] });
    },
  );

  it('removes a state from disk once the database has it', async () => {
    const directory = makeDirectory();
    const spool = open(directory, async () => 'kept');
    const attemptId = randomUUID();
    await spool.add(state(attemptId, 1));
    await spool.settle(attemptId);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is recovered by another worker that shares the directory, even while the first one is running', async () => {
    const directory = makeDirectory();
    const [first, second] = [randomUUID(), randomUUID()];
    const stuck = open(directory, unreachable);
    for (const write of [1, 2]) await stuck.add(state(first, write));
    await stuck.add(state(second, 1));
    const taken: string[] = [];
    const take = async ({ attemptId, write, content }: AttemptState): Promise<StateOutcome> => {
      taken.push(`${attemptId} ${write} ${content}`);
      return 'late';
    };
    const others = [open(directory, take), open(directory, take)];
    await Promise.all(others.map((spool) => spool.recover()));
    expect(new Set(taken)).toEqual(new Set([`${first} 1 state 1`, `${first} 2 state 2`, `${second} 1 state 1`]));
    expect(readdirSync(directory)).toEqual([]);
  });

  it('does not recover states that its own attempts are still storing', async () => {
    let asked = 0;
    const spool = open(makeDirectory(), () => {
      asked += 1;
      return unreachable();
    });
    await spool.add(state(randomUUID(), 1));
    await spool.recover();
    expect(asked).toBe(0);
    await expect.poll(() => asked, { timeout: 5_000 }).toBe(1);
    await spool.recover();
    expect(asked).toBe(1);
  });

  it('sets an outdated state aside, and does not store it again', async () => {
    const directory = makeDirectory();
    const attemptId = randomUUID();
    await open(directory, unreachable).add(state(attemptId, 1));
    await open(directory, async () => 'outdated').recover();
    expect(readdirSync(directory)).toEqual([`${attemptId}.000001.refused`]);
    let asked = 0;
    await open(directory, async () => {
      asked += 1;
      return 'kept';
    }).recover();
    expect(asked).toBe(0);
  });

  it('recovers the other states if one file cannot be read and another state cannot be stored', async () => {
    const directory = makeDirectory();
    const [good, bad] = [randomUUID(), randomUUID()];
    const stuck = open(directory, unreachable);
    for (const id of [good, bad]) await stuck.add(state(id, 1));
    const damaged = join(directory, `${randomUUID()}.000001`);
    writeFileSync(damaged, 'damaged');
    const saved: string[] = [];
    await open(directory, async ({ attemptId }) => {
      if (attemptId === bad) throw new Error('no such attempt');
      saved.push(attemptId);
      return 'kept';
    }).recover();
    expect(saved).toEqual([good]);
    expect(existsSync(damaged)).toBe(true);
    expect(existsSync(join(directory, `${bad}.000001.refused`))).toBe(true);
    expect(existsSync(join(directory, `${bad}.000001`))).toBe(false);
  });

  it('removes drafts of workers that died, but not a draft that is being written', async () => {
    const directory = makeDirectory();
    const spool = open(directory, async () => 'kept');
    await spool.recover();
    const [old, fresh] = ['old', 'fresh'].map((name) => join(directory, `${name}.new`));
    for (const path of [old, fresh]) writeFileSync(path ?? '', '');
    utimesSync(old ?? '', new Date(0), new Date(0));
    await spool.recover();
    expect(readdirSync(directory)).toEqual(['fresh.new']);
  });
});

describe('a state that cannot be stored', () => {
  it.each([
    ['breaks a rule', new AttemptWriteRefused('state_refused', 'the state is no JSON'), 'the state is no JSON'],
    ['is refused by PostgreSQL', sqlError('22003'), 'the database refused it (22003)'],
    ['fails for an unexpected reason', new Error('secret content'), /^it could not be stored/],
  ])('is set aside and reported at once if it %s', async (_, error, problem) => {
    const directory = makeDirectory();
    const attemptId = randomUUID();
    const noted: unknown[] = [];
    let refusals = 0;
    const recordRefusal = async (refused: unknown) => void noted.push(refused);
    const spool = open(directory, () => Promise.reject(error), { recordRefusal });
    await spool.add(state(attemptId, 1), () => void refusals++);
    expect(await spool.settle(attemptId)).toBe('refused');
    const file = `${attemptId}.000001.refused`;
    expect(readdirSync(directory)).toEqual([file]);
    const digest = `sha256:${createHash('sha256').update('state 1').digest('hex')}`;
    expect(noted).toEqual([
      {
        attemptId,
        write: 1,
        file,
        digest,
        problem: typeof problem === 'string' ? problem : expect.stringMatching(problem),
      },
    ]);
    expect(refusals).toBe(1);
  });

  it('is retried for a while if the reason is temporary, and is set aside after that', async () => {
    const directory = makeDirectory();
    const attemptId = randomUUID();
    let asked = 0;
    const fullDisk = () => {
      asked += 1;
      return Promise.reject(sqlError('53100'));
    };
    const spool = open(directory, fullDisk, { giveUpAfterMs: 1_500 });
    await spool.add(state(attemptId, 1));
    expect(await spool.settle(attemptId)).toBe('refused');
    expect(asked).toBe(3);
    expect(readdirSync(directory)).toEqual([`${attemptId}.000001.refused`]);
  });

  it('is stored if the reason passes in time', async () => {
    const attemptId = randomUUID();
    const failures = [sqlError('40P01')];
    const spool = open(makeDirectory(), async () => {
      const failure = failures.pop();
      if (failure) throw failure;
      return 'kept';
    });
    await spool.add(state(attemptId, 1));
    expect(await spool.settle(attemptId)).toBe('settled');
  });

  it('does not prevent the next state of its attempt from being stored', async () => {
    const attemptId = randomUUID();
    const saved: number[] = [];
    const spool = open(makeDirectory(), async ({ write }) => {
      if (write === 1) throw sqlError('22003');
      saved.push(write);
      return 'kept';
    });
    for (const write of [1, 2]) await spool.add(state(attemptId, write));
    expect(await spool.settle(attemptId)).toBe('refused');
    expect(saved).toEqual([2]);
  });

  it('stays in the spool until it can be reported, if the database becomes unreachable in between', async () => {
    const directory = makeDirectory();
    const attemptId = randomUUID();
    const refuse = () => Promise.reject(sqlError('22003'));
    await open(directory, unreachable).add(state(attemptId, 1));
    await open(directory, refuse, { recordRefusal: unreachable }).recover();
    expect(readdirSync(directory)).toEqual([`${attemptId}.000001`]);
    await open(directory, refuse).recover();
    expect(readdirSync(directory)).toEqual([`${attemptId}.000001.refused`]);
  });

  it('is left to the next worker if this one stops', async () => {
    const directory = makeDirectory();
    const attemptId = randomUUID();
    let spool: StateSpool | undefined;
    spool = open(directory, async () => {
      spool?.close();
      throw new Error('the pool was closed');
    });
    await spool.add(state(attemptId, 1));
    await spool.settle(attemptId);
    expect(readdirSync(directory)).toEqual([`${attemptId}.000001`]);
  });

  it.each([0, 1.5, 1_000_000, '/../../etc/passwd'])(
    'is rejected and not written to a file if its write number is %s',
    async (write) => {
      const directory = makeDirectory();
      const spool = open(directory, async () => 'kept');
      const added = spool.add({ ...state(randomUUID(), 1), write: write as number });
      await expect(added).rejects.toThrow(AttemptWriteRefused);
      expect(existsSync(directory)).toBe(false);
    },
  );
});

describe('the last state of an attempt', () => {
  /** What a transaction that stores states and results has kept. */
  function recordIn(kept: string[]) {
    return (verdict: string, last: AttemptState | null) => {
      kept.push(`result, ${verdict}${last ? `, with state ${last.write}` : ''}`);
      return Promise.resolve('stored');
    };
  }
  const saveIn =
    (kept: string[]) =>
    async ({ write }: AttemptState) => {
      kept.push(`state ${write}`);
      return 'kept' as const;
    };

  it('is stored with the result, after the states before it, and leaves the disk', async () => {
    const directory = makeDirectory();
    const attemptId = randomUUID();
    const kept: string[] = [];
    const spool = open(directory, saveIn(kept));
    for (const write of [1, 2]) await spool.add(state(attemptId, write));
    expect(await spool.settleWith(attemptId, recordIn(kept))).toBe('stored');
    expect(kept).toEqual(['state 1', 'result, settled, with state 2']);
    expect(readdirSync(directory)).toEqual([]);
    expect(await spool.settle(attemptId)).toBe('settled');
    expect(kept).toHaveLength(2);
  });

  it('is stored by itself if the attempt goes on', async () => {
    const directory = makeDirectory();
    const attemptId = randomUUID();
    const kept: string[] = [];
    const spool = open(directory, saveIn(kept));
    await spool.add(state(attemptId, 1));
    await expect.poll(() => kept, { timeout: 5_000 }).toEqual(['state 1']);
    await spool.settleWith(attemptId, recordIn(kept));
    expect(kept).toEqual(['state 1', 'result, settled']);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is stored first and by itself if it cannot be stored with the result', async () => {
    const attemptId = randomUUID();
    const kept: string[] = [];
    const spool = open(makeDirectory(), saveIn(kept));
    await spool.add(state(attemptId, 1));
    const store = recordIn(kept);
    await spool.settleWith(attemptId, (verdict, last) => (last ? unreachable() : store(verdict, last)));
    expect(kept).toEqual(['state 1', 'result, settled']);
  });

  it('is set aside if it is refused, and the result is stored with that verdict', async () => {
    const directory = makeDirectory();
    const attemptId = randomUUID();
    const kept: string[] = [];
    const refuse = () => Promise.reject(new AttemptWriteRefused('state_refused', 'a state was refused'));
    const spool = open(directory, refuse);
    let refusals = 0;
    await spool.add(state(attemptId, 1), () => void refusals++);
    const store = recordIn(kept);
    await spool.settleWith(attemptId, (verdict, last) => (last ? refuse() : store(verdict, last)));
    expect({ kept, refusals }).toEqual({ kept: ['result, refused'], refusals: 1 });
    expect(readdirSync(directory)).toEqual([`${attemptId}.000001.refused`]);
  });

  it('stays on disk if its process is killed before anything is stored', async () => {
    const directory = makeDirectory();
    const attemptId = randomUUID();
    const never = new Promise<never>(() => undefined);
    const killed = open(directory, () => never);
    await killed.add(state(attemptId, 1));
    void killed.settleWith(attemptId, () => never);
    const kept: string[] = [];
    await open(directory, saveIn(kept)).recover();
    expect(kept).toEqual(['state 1']);
  });
});
