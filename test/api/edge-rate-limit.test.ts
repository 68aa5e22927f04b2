import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type RateLimitOptions, rateLimit } from '#api/plugins/rate-limit.ts';
import { Unauthenticated } from '#domain/shared/errors.ts';
import { createEdgeApp, jsonType } from '#test/support/edge-app.ts';

const open: FastifyInstance[] = [];
afterEach(() => Promise.all(open.splice(0).map((app) => app.close())));

async function start(options: RateLimitOptions = {}) {
  const counts = { verified: 0 };
  const { app } = await createEdgeApp(
    async (server) => {
      await server.register(rateLimit, options);
      server.post(
        '/sign-in',
        { schema: { body: z.strictObject({ email: z.string(), password: z.string() }) } },
        async (request) => {
          const { email, password } = request.body as { email: string; password: string };
          return server.limitSignIn(request, email, async () => {
            counts.verified += 1;
            await pause(5);
            if (password === 'broken') throw new Error('the database is away');
            if (password !== 'right') throw new Unauthenticated('email or password is wrong');
            return { ok: true };
          });
        },
      );
      server.get('/few', { config: { rateLimit: { max: 2, timeWindow: 60_000 } } }, async () => ({}));
    },
    { trustedProxies: ['127.0.0.1'] },
  );
  open.push(app);
  const signIn = async (email: string, password: string, address = '203.0.113.1') =>
    app.inject({
      method: 'POST',
      url: '/sign-in',
      headers: { ...jsonType, 'x-forwarded-for': address },
      payload: JSON.stringify({ email, password }),
    });
  return { app, counts, signIn };
}

const statuses = (responses: { statusCode: number }[]) => responses.map((response) => response.statusCode);

describe('guessing passwords', () => {
  it('is refused after ten failures at one account from one address, with when to come back', async () => {
    const { signIn, counts } = await start();
    for (let attempt = 0; attempt < 10; attempt += 1) expect((await signIn('a@x.y', 'wrong')).statusCode).toBe(401);
    const refused = await signIn('a@x.y', 'right');
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toEqual({
      error: expect.stringMatching(/^too many failed attempts to sign in: try again in \d+ seconds$/),
    });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(290);
    expect(refused.headers).toMatchObject({ 'ratelimit-limit': '10', 'ratelimit-remaining': '0' });
    expect(counts.verified).toBe(10);
  });

  it('is not made easier by spelling the account otherwise', async () => {
    const { signIn } = await start({ failuresPerAccount: 3 });
    for (const email of ['a@x.y', 'A@X.Y', ' a@x.y ']) await signIn(email, 'wrong');
    expect((await signIn('a@x.Y', 'wrong')).statusCode).toBe(429);
  });

  it('is not made easier by asking many times at once', async () => {
    const { signIn, counts } = await start();
    const answers = statuses(await Promise.all(Array.from({ length: 60 }, () => signIn('a@x.y', 'wrong'))));
    expect(answers.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
    expect(counts.verified).toBeLessThanOrEqual(10);
  });

  it('locks nobody out from another address or another account', async () => {
    const { signIn } = await start({ failuresPerAccount: 2 });
    for (let attempt = 0; attempt < 3; attempt += 1) await signIn('a@x.y', 'wrong');
    expect((await signIn('a@x.y', 'right', '203.0.113.2')).statusCode).toBe(200);
    expect((await signIn('b@x.y', 'right')).statusCode).toBe(200);
  });

  it('is refused over all accounts together', async () => {
    const { signIn } = await start({ failuresPerAddress: 5 });
    for (let attempt = 0; attempt < 5; attempt += 1) await signIn(`user${attempt}@x.y`, 'wrong');
    expect((await signIn('fresh@x.y', 'wrong')).statusCode).toBe(429);
    expect((await signIn('fresh@x.y', 'right', '203.0.113.2')).statusCode).toBe(200);
  });

  it('counts the addresses of one IPv6 network as one', async () => {
    const { signIn } = await start({ failuresPerAccount: 2 });
    for (const address of ['2001:db8::1', '2001:db8::2']) await signIn('a@x.y', 'wrong', address);
    expect((await signIn('a@x.y', 'wrong', '2001:db8::3')).statusCode).toBe(429);
    expect((await signIn('a@x.y', 'wrong', '2001:db8:1::3')).statusCode).toBe(401);
  });

  it('ends its punishment with the window', async () => {
    const { signIn } = await start({ failuresPerAccount: 1, window: 200 });
    await signIn('a@x.y', 'wrong');
    expect((await signIn('a@x.y', 'right')).statusCode).toBe(429);
    await pause(250);
    expect((await signIn('a@x.y', 'right')).statusCode).toBe(200);
  });
});

describe('signing in rightly', () => {
  it('is never limited, one after the other', async () => {
    const { signIn } = await start();
    for (let attempt = 0; attempt < 40; attempt += 1) expect((await signIn('a@x.y', 'right')).statusCode).toBe(200);
  });

  it('is not punished for failures of this service', async () => {
    const { signIn } = await start({ failuresPerAccount: 2 });
    for (let attempt = 0; attempt < 5; attempt += 1) expect((await signIn('a@x.y', 'broken')).statusCode).toBe(500);
    expect((await signIn('a@x.y', 'right')).statusCode).toBe(200);
  });
});

describe('a route with a limit of its own', () => {
  it('answers 429 in the usual shape, with the standard headers', async () => {
    const { app } = await start();
    expect((await app.inject('/few')).headers).toMatchObject({ 'ratelimit-limit': '2', 'ratelimit-remaining': '1' });
    await app.inject('/few');
    const refused = await app.inject('/few');
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toEqual({ error: 'too many requests: try again in 60 seconds' });
    expect(refused.headers).toMatchObject({ 'retry-after': '60', 'ratelimit-remaining': '0' });
  });
});
