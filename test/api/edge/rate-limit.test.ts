import { setTimeout as pause } from 'node:timers/promises';
import { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { GuessLimit, type GuessLimits } from '#api/edge/limits/guess-limit.ts';
import type { Orm } from '#database/database.ts';
import { Unauthenticated } from '#domain/shared/errors.ts';
import { deleteExpiredCounts } from '#domain/shared/rate-counts/store.ts';
import { openDatabase } from '#open-database';
import { createEdgeApp, jsonType } from '#test/support/api/edge-app.ts';
import { createDatabase, type TestDatabase } from '#test/support/database/database.ts';

let database: TestDatabase;
let orm: Orm;
beforeAll(async () => {
  database = await createDatabase();
  orm = openDatabase({ databaseUrl: database.url, databasePoolSize: 10 });
});
afterAll(async () => {
  await orm?.close();
  await database?.drop();
});

const open: FastifyInstance[] = [];
beforeEach(() => orm.em.execute('truncate rate_counts'));
afterEach(() => Promise.all(open.splice(0).map((app) => app.close())));

/** Ends all windows that are open now. */
const endWindows = () => orm.em.execute('update rate_counts set ends_at = now()');
const count = async () => Number((await orm.em.execute('select count(*) as n from rate_counts'))[0]?.n);

/** Two servers that share a database, used in turns. They must act as one. */
async function start(options: Partial<GuessLimits> = {}) {
  const limits = { perAccount: 10, perAddress: 100, windowMs: 5 * 60_000, ...options };
  const counts = { verified: 0, turn: 0 };
  const servers = await Promise.all([1, 2].map(() => startServer(limits, counts)));
  const signIn = async (email: string, password: string, address = '203.0.113.1') =>
    servers[counts.turn++ % 2]!.inject({
      method: 'POST',
      url: '/sign-in',
      headers: { ...jsonType, 'x-forwarded-for': address },
      payload: JSON.stringify({ email, password }),
    });
  return { counts, signIn };
}

async function startServer(limits: GuessLimits, counts: { verified: number }): Promise<FastifyInstance> {
  const { app } = await createEdgeApp(
    async (server) => {
      const guesses = new GuessLimit(orm, limits, server.log);
      server.post(
        '/sign-in',
        { schema: { body: z.strictObject({ email: z.string(), password: z.string() }) } },
        async (request) => {
          const { email, password } = request.body as { email: string; password: string };
          return guesses.count({ address: normalizeIP(request.ip) }, email, async () => {
            counts.verified += 1;
            await pause(5);
            if (password === 'broken') throw new Error('the database is away');
            if (password !== 'right') throw new Unauthenticated('email or password is wrong');
            return { ok: true };
          });
        },
      );
    },
    { trustedProxies: ['127.0.0.1'] },
  );
  open.push(app);
  return app;
}

const statuses = (responses: { statusCode: number }[]) => responses.map((response) => response.statusCode);

describe('signing in with wrong passwords', () => {
  it('answers 429 with Retry-After after ten failures at one account from one address', async () => {
    const { signIn, counts } = await start();
    for (let attempt = 0; attempt < 10; attempt += 1) expect((await signIn('a@x.y', 'wrong')).statusCode).toBe(401);
    const refused = await signIn('a@x.y', 'right');
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toEqual({
      error: expect.stringMatching(/^too many failed attempts: try again in \d+ seconds$/),
    });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(290);
    expect(refused.headers).toMatchObject({ 'ratelimit-limit': '10', 'ratelimit-remaining': '0' });
    expect(counts.verified).toBe(10);
  });

  it('counts different spellings of one account together', async () => {
    const { signIn } = await start({ perAccount: 3 });
    for (const email of ['a@x.y', 'A@X.Y', ' a@x.y ']) await signIn(email, 'wrong');
    expect((await signIn('a@x.Y', 'wrong')).statusCode).toBe(429);
  });

  it('counts concurrent attempts', async () => {
    const { signIn, counts } = await start();
    const answers = statuses(await Promise.all(Array.from({ length: 60 }, () => signIn('a@x.y', 'wrong'))));
    expect(answers.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
    expect(counts.verified).toBeLessThanOrEqual(10);
  });

  it('does not block other addresses or other accounts', async () => {
    const { signIn } = await start({ perAccount: 2 });
    for (let attempt = 0; attempt < 3; attempt += 1) await signIn('a@x.y', 'wrong');
    expect((await signIn('a@x.y', 'right', '203.0.113.2')).statusCode).toBe(200);
    expect((await signIn('b@x.y', 'right')).statusCode).toBe(200);
  });

  it('answers 429 after too many failures across all accounts', async () => {
    const { signIn } = await start({ perAddress: 5 });
    for (let attempt = 0; attempt < 5; attempt += 1) await signIn(`user${attempt}@x.y`, 'wrong');
    expect((await signIn('fresh@x.y', 'wrong')).statusCode).toBe(429);
    expect((await signIn('fresh@x.y', 'right', '203.0.113.2')).statusCode).toBe(200);
  });

  it('counts the addresses of one IPv6 network as one', async () => {
    const { signIn } = await start({ perAccount: 2 });
    for (const address of ['2001:db8::1', '2001:db8::2']) await signIn('a@x.y', 'wrong', address);
    expect((await signIn('a@x.y', 'wrong', '2001:db8::3')).statusCode).toBe(429);
    expect((await signIn('a@x.y', 'wrong', '2001:db8:1::3')).statusCode).toBe(401);
  });

  it('is checked again after the window', async () => {
    const { signIn } = await start({ perAccount: 1 });
    await signIn('a@x.y', 'wrong');
    expect((await signIn('a@x.y', 'right')).statusCode).toBe(429);
    await endWindows();
    expect((await signIn('a@x.y', 'right')).statusCode).toBe(200);
  });
});

describe('signing in with the right password', () => {
  it('is not limited sequentially', async () => {
    const { signIn } = await start();
    for (let attempt = 0; attempt < 40; attempt += 1) expect((await signIn('a@x.y', 'right')).statusCode).toBe(200);
  });

  it('is not limited concurrently', async () => {
    const { signIn } = await start();
    const answers = await Promise.all(Array.from({ length: 40 }, () => signIn('a@x.y', 'right')));
    expect(new Set(statuses(answers))).toEqual(new Set([200]));
  });

  it('does not count towards the limit of wrong passwords', async () => {
    const { signIn } = await start({ perAccount: 3 });
    await Promise.all(Array.from({ length: 20 }, () => signIn('a@x.y', 'right')));
    for (let attempt = 0; attempt < 3; attempt += 1) expect((await signIn('a@x.y', 'wrong')).statusCode).toBe(401);
    expect((await signIn('a@x.y', 'right')).statusCode).toBe(429);
  });

  it('is not counted as a wrong password if the service fails', async () => {
    const { signIn } = await start({ perAccount: 2 });
    for (let attempt = 0; attempt < 5; attempt += 1) expect((await signIn('a@x.y', 'broken')).statusCode).toBe(500);
    expect((await signIn('a@x.y', 'right')).statusCode).toBe(200);
  });
});

describe('the counts of wrong passwords', () => {
  it('do not reveal the account or the address', async () => {
    const { signIn } = await start();
    await signIn('ana@example.com', 'wrong', '203.0.113.77');
    const rows = JSON.stringify(await orm.em.execute('select * from rate_counts'));
    expect(rows).not.toMatch(/ana|203/);
  });

  it('are deleted after their window has ended, and not before', async () => {
    const { signIn } = await start();
    await signIn('a@x.y', 'wrong');
    await endWindows();
    await signIn('b@x.y', 'wrong', '203.0.113.2');
    expect(await count()).toBe(4);
    await deleteExpiredCounts(orm.em.fork());
    expect(await count()).toBe(2);
  });

  it('are not kept for a disabled limit', async () => {
    const { signIn } = await start({ perAccount: 0, perAddress: 0 });
    for (let attempt = 0; attempt < 15; attempt += 1) expect((await signIn('a@x.y', 'wrong')).statusCode).toBe(401);
    expect(await count()).toBe(0);
  });
});
