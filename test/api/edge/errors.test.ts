import { type AddressInfo, connect } from 'node:net';
import { defineEntity, MikroORM, p } from '@mikro-orm/postgresql';
import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Conflict, Forbidden, NotFound, ServiceError, Unprocessable, unknownOutcome } from '#domain/shared/errors.ts';
import { createEdgeApp, type EdgeApp, jsonType } from '#test/support/api/edge-app.ts';

const readTheOutcome = /^the connection was lost: do not send it again, but read GET \/api\/v1\/commands\/outcome /;
const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const thrown: Record<string, () => unknown> = {
  forbidden: () => new Forbidden(),
  notFound: () => new NotFound('run'),
  conflict: () => new Conflict('the plan moved', 'plan_moved'),
  unprocessable: () =>
    new Unprocessable('variables do not fit', {
      code: 'variables_invalid',
      details: { errors: [{ path: 'size', message: 'too big' }] },
    }),
  limited: () => new ServiceError('limited', 'slow down', { retryAfter: 2.2 }),
  uncertain: () => unknownOutcome('the connection was lost', { cause: new Error('pg: secret-cause') }),
  bug: () => new TypeError('cannot read secret-internals of undefined'),
  text: () => 'secret-text',
  nothing: () => undefined,
  plugin404: () => Object.assign(new Error('ENOENT /srv/secret-path'), { statusCode: 404 }),
  plugin500: () => Object.assign(new Error('secret-path'), { statusCode: 502 }),
  refused: () => Object.assign(new Error('connect ECONNREFUSED 10.1.2.3:5432'), { code: 'ECONNREFUSED' }),
  happyEyeballs: () => new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })], ''),
  shutdown: () => Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' }),
  tooMany: () =>
    new Error('query failed', { cause: Object.assign(new Error('sorry, too many clients'), { code: '53300' }) }),
  poolTimeout: () => new Error('timeout exceeded when trying to connect'),
  deadlock: () => Object.assign(new Error('deadlock detected'), { code: '40P01' }),
  engine: () => Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: 'No connection established' }),
  badUuid: () => Object.assign(new Error('invalid input syntax for type uuid: "secret-value"'), { code: '22P02' }),
  nul: () => Object.assign(new Error('invalid message format'), { code: '08P01' }),
  unique: () =>
    Object.assign(new Error('duplicate key value\n - detail: Key (email)=(secret@x) already exists.'), {
      code: '23505',
      constraint: 'users_email',
      detail: 'Key (email)=(secret@x)',
    }),
};

const Row = defineEntity({ name: 'Row', properties: { id: p.integer().primary() } });

let edge: EdgeApp;
let app: FastifyInstance;

beforeAll(async () => {
  edge = await createEdgeApp((server) => {
    server.get('/throw/:what', async (request) => {
      throw thrown[(request.params as { what: string }).what]?.();
    });
    server.get('/sync/:what', (request) => {
      throw thrown[(request.params as { what: string }).what]?.();
    });
    server.get('/items/:id', async () => ({ ok: true }));
    server.patch('/items/:id', async () => ({ ok: true }));
    server.delete('/items/:id', async (_request, reply) => reply.code(204).send());
    server.get('/five', async (_request, reply) => reply.code(502).send({ error: 'upstream' }));
    server.get('/secret-answer', { schema: { response: { 200: z.object({ name: z.string() }) } } }, async () => ({
      name: 7,
      password_hash: 'secret-hash',
    }));
    const config: FastifyContextConfig = {
      adaptErrorAnswer: (answer) =>
        answer.status === 400 || answer.status === 415
          ? { ...answer, status: 400, body: { error: { code: 'malformed_review', message: answer.body.error } } }
          : answer,
    };
    server.post('/review', { config, schema: { body: z.strictObject({ name: z.string() }) } }, async () => {
      throw new Conflict('an ordinary error', 'in_use');
    });
    server.get('/mikro-orm', async () => {
      const orm = new MikroORM({ host: '127.0.0.1', port: 1, user: 'nobody', dbName: 'none', entities: [Row] });
      try {
        await orm.em.fork().find(Row, {});
      } finally {
        await orm.close();
      }
    });
    server.get('/database', async () => {
      const client = new pg.Client({ host: '127.0.0.1', port: 1, user: 'nobody' });
      await client.connect();
    });
  });
  app = edge.app;
  await app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => app.close());

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ method: 'GET', url, headers });

describe('an error', () => {
  it.each([
    ['forbidden', 'permission_denied'],
    ['conflict', 'plan_moved'],
    ['unprocessable', 'variables_invalid'],
    ['limited', 'rate_limited'],
    ['uncertain', 'unavailable'],
    ['bug', 'internal_error'],
    ['plugin404', 'not_found'],
    ['unique', 'concurrent_change'],
  ])('%s has the error code %s', async (what, code) => {
    expect((await get(`/throw/${what}`)).headers['x-error-code']).toBe(code);
  });

  it('is a problem of RFC 9457 for a client that prefers that, and JSON for all others', async () => {
    const response = await get('/throw/unprocessable', { accept: 'application/problem+json' });
    expect([response.statusCode, response.headers['content-type']]).toEqual([422, 'application/problem+json']);
    expect(response.json()).toEqual({
      type: 'about:blank',
      title: 'Unprocessable Entity',
      status: 422,
      detail: 'variables do not fit',
      code: 'variables_invalid',
      errors: [{ path: 'size', message: 'too big' }],
    });
    const uncertain = await get('/throw/uncertain', { accept: 'application/problem+json, application/json;q=0.5' });
    expect(uncertain.json()).toMatchObject({ status: 503, outcome: 'unknown' });
    for (const accept of ['*/*', 'application/json', 'application/json, application/problem+json', 'text/plain']) {
      expect((await get('/throw/unprocessable', { accept })).json()).toEqual({ error: 'variables do not fit' });
    }
  });

  it.each([
    ['forbidden', 403, { error: 'permission denied' }],
    ['notFound', 404, { error: 'run was not found' }],
    ['conflict', 409, { error: 'the plan moved' }],
    ['unprocessable', 422, { error: 'variables do not fit' }],
    ['limited', 429, { error: 'slow down' }],
    ['uncertain', 503, { error: expect.stringMatching(readTheOutcome), outcome: 'unknown' }],
    ['bug', 500, { error: 'internal error' }],
    ['text', 500, { error: 'internal error' }],
    ['nothing', 500, { error: 'internal error' }],
    ['plugin404', 404, { error: 'there is nothing at this path; /api/docs lists every operation' }],
    ['plugin500', 500, { error: 'internal error' }],
    ['refused', 503, { error: 'a required service is unavailable: try again' }],
    ['happyEyeballs', 503, { error: 'a required service is unavailable: try again' }],
    ['shutdown', 503, { error: 'a required service is unavailable: try again' }],
    ['tooMany', 503, { error: 'a required service is unavailable: try again' }],
    ['poolTimeout', 503, { error: 'a required service is unavailable: try again' }],
    ['deadlock', 503, { error: 'a required service is unavailable: try again' }],
    ['engine', 503, { error: 'a required service is unavailable: try again' }],
    ['badUuid', 500, { error: 'internal error' }],
    ['nul', 500, { error: 'internal error' }],
    ['unique', 409, { error: expect.stringContaining('conflicts with another change') }],
  ])('%s is answered with %i', async (what, status, body) => {
    for (const path of [`/throw/${what}`, `/sync/${what}`]) {
      const response = await get(path);
      expect(response.statusCode).toBe(status);
      expect(response.json()).toEqual(body);
      expect(response.headers['x-request-id']).toMatch(uuid7);
      expect(response.headers['cache-control']).toBe('no-store');
      expect(response.body).not.toContain('secret');
      expect('x-support-id' in response.headers).toBe(status >= 500);
    }
  });

  it('is answered with Retry-After in whole seconds', async () => {
    expect((await get('/throw/limited')).headers['retry-after']).toBe('3');
    expect((await get('/throw/refused')).headers['retry-after']).toBe('1');
  });

  it('has no advice to repeat a command whose outcome is unknown', async () => {
    const { headers, body } = await get('/throw/uncertain');
    expect(headers).not.toHaveProperty('retry-after');
    expect(body).not.toMatch(/repeat|retry|try again|same key/i);
  });

  it('is logged with its stack and cause under the support id that the client got, if it is a failure', async () => {
    for (const [what, word] of [
      ['bug', 'secret-internals'],
      ['uncertain', 'secret-cause'],
    ] as const) {
      const response = await get(`/throw/${what}`);
      const supportId = response.headers['x-support-id'];
      expect(supportId).toMatch(uuid7);
      const line = edge.logLines().find((each) => each['support_id'] === supportId && each['err']);
      expect(JSON.stringify(line)).toContain(word);
      expect(JSON.stringify(line)).toContain('errors.test.ts');
      expect(line?.['request_id']).toBe(response.headers['x-request-id']);
    }
  });

  it('an error that a handler sends itself with a 5xx status has a support id too', async () => {
    const response = await get('/five');
    const supportId = response.headers['x-support-id'];
    expect(supportId).toMatch(uuid7);
    expect(edge.logLines().some((line) => line['support_id'] === supportId)).toBe(true);
  });

  it('is sent instead of a response that does not match its schema, and its values are not logged', async () => {
    const response = await get('/secret-answer');
    expect(response.statusCode).toBe(500);
    expect(response.json()).toEqual({ error: 'internal error' });
    expect(edge.logText()).toContain('does not match its schema at name (invalid_type)');
    expect(edge.logText()).not.toContain('secret-hash');
  });

  it.each(['/database', '/mikro-orm'])(
    'is answered with 503 when the real driver behind %s cannot reach the database',
    async (url) => {
      const response = await get(url);
      expect(response.statusCode).toBe(503);
      expect(response.headers['x-support-id']).toMatch(uuid7);
      expect(response.body).not.toContain('127.0.0.1');
    },
  );

  it('has another form on a route that adapts its errors', async () => {
    const review = (payload: string) => app.inject({ method: 'POST', url: '/review', headers: jsonType, payload });
    for (const payload of ['{', '{"name":"a","name":"b"}', '{"name":"a","x":1}', '']) {
      const response = await review(payload);
      expect(response.statusCode).toBe(400);
      expect(response.json()).toEqual({ error: { code: 'malformed_review', message: expect.any(String) } });
    }
    expect((await review('{"name":"a"}')).json()).toEqual({ error: 'an ordinary error' });
  });

  it('is logged without the values that the driver reports', () => {
    expect(edge.logText()).toContain('users_email');
    expect(edge.logText()).toContain('invalid input syntax for type uuid');
    expect(edge.logText()).not.toMatch(/secret@x|secret-value/);
  });
});

describe('paths and methods', () => {
  it('an unknown path answers 404 and names the API reference', async () => {
    for (const url of ['/nowhere', '/items', '/items/1/2', '/ITEMS/1', '/%2e%2e/items']) {
      const response = await get(url);
      expect(response.statusCode).toBe(404);
      expect(response.json().error).toMatch(/\/api\/docs/);
    }
  });

  it('a known path with an unknown method answers 405 with Allow', async () => {
    for (const method of ['POST', 'PUT', 'OPTIONS', 'QUERY', 'TRACE', 'PROPFIND'] as const) {
      const response = await app.inject({ method: method as 'PUT', url: '/items/7?x=1' });
      expect(response.statusCode).toBe(405);
      expect(response.headers['allow']).toBe('DELETE, GET, HEAD, PATCH');
      expect(response.json().error).toBe(`${method} is not allowed here: use DELETE, GET, HEAD, PATCH`);
    }
  });

  it('404 and 405 are answered before the body is parsed', async () => {
    for (const payload of ['{broken', '<xml/>']) {
      const type = payload.startsWith('<') ? { 'content-type': 'text/xml' } : jsonType;
      expect((await app.inject({ method: 'POST', url: '/nowhere', payload, headers: type })).statusCode).toBe(404);
      expect((await app.inject({ method: 'POST', url: '/items/1', payload, headers: type })).statusCode).toBe(405);
    }
  });

  it.each([['/items/%ZZ'], ['/%'], ['/items/%ff%fe'], ['/items/%E0%A4%A']])(
    'the malformed path %s answers 400',
    async (url) => {
      const response = await get(url);
      expect(response.statusCode).toBe(400);
      expect(response.json()).toEqual({ error: expect.stringContaining('not a valid URL') });
      expect(response.headers['x-request-id']).toMatch(uuid7);
    },
  );

  it('an overlong path segment answers 414', async () => {
    expect((await get(`/items/${'x'.repeat(600)}`)).statusCode).toBe(414);
  });
});

/** Sends a text over a plain socket, as no client library would, and returns what the server answers. */
function speak(text: string): Promise<string> {
  const { port } = app.server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}

describe('a request that the HTTP parser rejects', () => {
  it.each([
    ['headers past 16 KiB', `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n', 400],
    ['no HTTP at all', 'hello\r\n\r\n', 400],
    [
      'two lengths',
      'POST /items/1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a space in a header name', 'GET / HTTP/1.1\r\nHost : x\r\n\r\n', 400],
  ])('is answered in the usual form and its connection is closed: %s', async (_what, text, status) => {
    const answer = await speak(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/X-Request-ID: [0-9a-f-]{36}/);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({ error: expect.any(String) });
  });
});
