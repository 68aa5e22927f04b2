import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import type { AttemptState, StateFate } from '#domain/runs/attempt-state.ts';
import { KeyRing } from '#domain/shared/secrets.ts';
import { StateSpool } from '#worker/state-spool.ts';

const root = mkdtempSync(join(tmpdir(), 'coordinator-spool-'));
afterAll(() => rm(root, { recursive: true, force: true }));

const keyRing = new KeyRing([{ id: 'test', key: Buffer.alloc(32, 7) }]);
const away = () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
let directories = 0;

/** A spool of a worker of its own, whose database does as it is told. */
function open(directory: string, save: (state: AttemptState) => Promise<StateFate>): StateSpool {
  return new StateSpool({ directory, keyRing, save, log: pino({ level: 'silent' }) });
}
const makeDirectory = () => join(root, String(++directories));
const state = (attemptId: string, write: number) => ({
  ...{ attemptId, write, content: Buffer.from(`state ${write}`), resourceCount: write },
});

describe('the spool of states', () => {
  it('lets a tool go on while the database is away, and brings its states there in order', async () => {
    const attemptId = randomUUID();
    const saved: number[] = [];
    let isAway = true;
    const spool = open(makeDirectory(), async ({ write }) => {
      if (isAway) return away();
      saved.push(write);
      return 'kept';
    });
    for (const write of [1, 2, 3]) await spool.add(state(attemptId, write));
    expect(saved).toEqual([]);
    isAway = false;
    await spool.settle(attemptId);
    expect(saved).toEqual([1, 2, 3]);
  });

  it('keeps nothing readable on disk, and nothing at all once the database has it', async () => {
    const directory = makeDirectory();
    const spool = open(directory, async () => 'kept');
    const attemptId = randomUUID();
    await spool.add(state(attemptId, 1));
    await spool.settle(attemptId);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('is taken up by another worker that shares the directory, also while the first one lives', async () => {
    const directory = makeDirectory();
    const [first, second] = [randomUUID(), randomUUID()];
    const stuck = open(directory, away);
    for (const write of [1, 2]) await stuck.add(state(first, write));
    await stuck.add(state(second, 1));
    const taken: string[] = [];
    const take = async ({ attemptId, write, content }: AttemptState): Promise<StateFate> => {
      taken.push(`${attemptId} ${write} ${content}`);
      return 'late';
    };
    const others = [open(directory, take), open(directory, take)];
    await Promise.all(others.map((spool) => spool.recover()));
    expect(new Set(taken)).toEqual(new Set([`${first} 1 state 1`, `${first} 2 state 2`, `${second} 1 state 1`]));
    expect(readdirSync(directory)).toEqual([]);
  });

  it('leaves to themselves what its own attempts are bringing', async () => {
    let asked = 0;
    const spool = open(makeDirectory(), () => {
      asked += 1;
      return away();
    });
    await spool.add(state(randomUUID(), 1));
    await spool.recover();
    expect(asked).toBe(1);
  });

  it('keeps an outdated state aside, once', async () => {
    const directory = makeDirectory();
    const attemptId = randomUUID();
    await open(directory, away).add(state(attemptId, 1));
    await open(directory, async () => 'outdated').recover();
    expect(readdirSync(directory)).toEqual([`${attemptId}.000001.refused`]);
    let asked = 0;
    await open(directory, async () => {
      asked += 1;
      return 'kept';
    }).recover();
    expect(asked).toBe(0);
  });

  it('is not kept from starting by a file that it cannot read, nor by one that cannot be saved', async () => {
    const directory = makeDirectory();
    const [good, bad] = [randomUUID(), randomUUID()];
    const stuck = open(directory, away);
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
    expect(existsSync(join(directory, `${bad}.000001`))).toBe(true);
  });

  it('removes drafts of workers that died over them, and none that is being written', async () => {
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
