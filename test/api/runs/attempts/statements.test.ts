import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '#config';
import { openDatabase } from '#open-database';
import { type System, startSystem } from '#test/support/system.ts';
import { network, publish, runToEnd } from '#test/support/templates.ts';

let system: System;
/** Asks for the end of a run beside the service, whose statements are counted. */
let watcher: pg.Client;

beforeAll(async () => {
  system = await startSystem();
  watcher = new pg.Client({ connectionString: system.database.url });
  await watcher.connect();
});
afterAll(async () => {
  await watcher?.end();
  await system?.close();
});

/** The statements that the API and the worker, which are in this process, send during some work. */
async function statementsDuring(work: () => Promise<void>): Promise<string[]> {
  const texts: string[] = [];
  const stops = (await driversOf(system.config)).map((driver) => {
    const send = driver.query;
    driver.query = function (this: unknown, ...given: unknown[]) {
      const [query] = given as [string | { text: string }];
      if (this !== watcher) texts.push(typeof query === 'string' ? query : query.text);
      return Reflect.apply(send, this, given);
    };
    return () => {
      driver.query = send;
    };
  });
  await work();
  for (const stop of stops) stop();
  return texts;
}

interface Driver {
  query(...given: unknown[]): unknown;
}

/** The driver of the signals, and the copy of it that MikroORM uses. */
async function driversOf(config: Config): Promise<Driver[]> {
  const orm = openDatabase(config);
  const connection = orm.em.getConnection() as unknown as {
    getNativeClient(): Promise<{ Client: { prototype: Driver } }>;
  };
  const { prototype } = (await connection.getNativeClient()).Client;
  await orm.close();
  return [...new Set([prototype, pg.Client.prototype as unknown as Driver])];
}

const isBegin = (text: string) => text.startsWith('begin');
/** The due watch, and the watch over attempts: a run that takes longer has more of them. */
const isTimed = (text: string) => text.includes('periodic_work') || text.includes('as given(id)');

async function awaitEnd(id: string): Promise<void> {
  for (;;) {
    const { rows } = await watcher.query('select status from runs where id = $1 and finished_at is not null', [id]);
    if (rows[0]) return expect(rows[0].status).toBe('succeeded');
    await sleep(5);
  }
}

describe('the statements that the service sends to PostgreSQL', () => {
  it('are few for a run without approval, whose version has run before', async () => {
    const template_id = await publish(system.administrator, 'network', network);
    const variables = { token: 'a value' };
    for (let warmUp = 0; warmUp < 3; warmUp += 1) await runToEnd(system.administrator, { template_id, variables });
    const counted: string[][] = [];
    for (const instance of ['one', 'two', 'three', 'four']) {
      // Notifications of the runs before are not its own.
      await sleep(1_500);
      const sent = await statementsDuring(async () => {
        const { status, body } = await system.administrator.post('/runs', { template_id, variables, instance });
        expect(status).toBe(202);
        await awaitEnd(body.id);
      });
      counted.push(sent.filter((text) => !isTimed(text)));
    }
    // Other work of the service may fall into the time of some of them.
    const [fewest = []] = counted.sort((one, other) => one.length - other.length);
    expect(fewest.filter(isBegin).length, fewest.join('\n')).toBeLessThanOrEqual(most.transactions);
    expect(fewest.length, fewest.join('\n')).toBeLessThanOrEqual(most.statements);
  });

  it('are two and a half a second at the most while there is nothing to do', async () => {
    const seconds = 60;
    // Notifications of the last run are over then.
    await sleep(5_000);
    const sent = await statementsDuring(() => sleep(seconds * 1000));
    expect(sent.length, sent.join('\n')).toBeLessThanOrEqual(2.5 * seconds);
  });
});

/** No feature may need more for every run. */
const most = { statements: 90, transactions: 6 };
