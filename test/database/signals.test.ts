import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Orm } from '#database/database.ts';
import { Signals } from '#database/signals.ts';
import { openDatabase } from '#open-database';
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts';
import { startProxy } from '#test/support/tcp-proxy.ts';

const log = pino({ level: 'silent' });
let database: TestDatabase;
let orm: Orm;
const open: Signals[] = [];

beforeAll(async () => {
  database = await createDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 2 });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((signals) => signals.close()));
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

/** A process of the installation, which hears the others. */
async function openProcess(url = database.url): Promise<Signals> {
  const signals = new Signals(url, log, { checkMs: 200, answerWithinMs: 500 });
  open.push(signals);
  const isConnected = Promise.withResolvers<void>();
  signals.on(['anything'], isConnected.resolve);
  signals.start();
  await isConnected.promise;
  return signals;
}

function record(signals: Signals, ...topics: string[]): string[] {
  const heard: string[] = [];
  for (const topic of topics) signals.on([topic], () => heard.push(topic));
  return heard;
}

describe('a signal', () => {
  it('reaches the same process at once, and every other one of the installation', async () => {
    const [one, other] = [await openProcess(), await openProcess()];
    const [here, there] = [record(one, 'a', 'b'), record(other, 'a', 'b', 'c')];
    one.signal(['a', 'b']);
    expect(here).toEqual(['a', 'b']);
    await expect.poll(() => there).toEqual(['a', 'b']);
    expect(here).toEqual(['a', 'b']);
  });

  it('stays in its process if it is meant for this process only', async () => {
    const [one, other] = [await openProcess(), await openProcess()];
    const [here, there] = [record(one, 'a'), record(other, 'a', 'end')];
    one.signalHere(['a']);
    one.signal(['end']);
    await expect.poll(() => there).toEqual(['end']);
    expect(here).toEqual(['a']);
  });

  it('arrives with many others, however long their topics are together', async () => {
    const [one, other] = [await openProcess(), await openProcess()];
    const topics = Array.from({ length: 1_000 }, (_, index) => `subject/${String(index).padStart(60, 'ü')}`);
    const there = record(other, ...topics);
    one.signal(topics);
    await expect.poll(() => there.length).toBe(topics.length);
  });

  it('no longer reaches a listener that has ended', async () => {
    const signals = await openProcess();
    let calls = 0;
    const end = signals.on(['a', 'b'], () => calls++);
    signals.signal(['a']);
    end();
    signals.signal(['a', 'b']);
    expect(calls).toBe(1);
  });
});

describe('a process that loses its connection', () => {
  it('calls every listener once it is connected again, because signals may have been lost', async () => {
    const [one, other] = [await openProcess(), await openProcess()];
    const there = record(other, 'a', 'b');
    await orm.em.fork().execute(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'delivery-coordinator signals' and datname = current_database()`,
    );
    await expect.poll(() => there.toSorted()).toEqual(['a', 'b']);
    await sleep(100);
    there.length = 0;
    await expect
      .poll(() => {
        one.signal(['a']);
        return there;
      })
      .toContain('a');
  });

  it('notices a connection that gives no answer any longer, and replaces it', async () => {
    const target = new URL(database.url);
    const proxy = await startProxy({ host: target.hostname, port: Number(target.port) });
    target.port = String(proxy.port);
    const [one, other] = [await openProcess(target.href), await openProcess()];
    const here = record(one, 'a');
    proxy.mute();
    await sleep(1_500);
    proxy.open();
    await expect
      .poll(() => {
        other.signal(['a']);
        return here;
      })
      .toContain('a');
    await proxy.close();
  });

  it('can be closed', async () => {
    const signals = new Signals('postgres://nobody@127.0.0.1:9/nothing', log);
    signals.start();
    signals.signal(['a']);
    await sleep(50);
    await signals.close();
  });
});
