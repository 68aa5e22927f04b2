import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { repeated } from '#api/pipeline/schemas.ts';
import { Id } from '#domain/shared/ids.ts';
import { TimeInput } from '#domain/shared/values/times.ts';
import { createEdgeApp, jsonType } from '#test/support/api/edge-app.ts';

const Step = z.strictObject({ name: z.string().min(1), run: z.array(z.string()) });
const Spec = z.strictObject({
  name: z.string().max(10),
  size: z.number().int().min(1).max(5).optional(),
  kind: z.enum(['small', 'large']).optional(),
  choice: z.strictObject({ size: z.enum(['small', 'large']) }).optional(),
  mark: z.union([z.literal('odd'), z.literal('even')], { error: 'expected an odd or an even mark' }).optional(),
  steps: z.array(Step).optional(),
  labels: z.record(z.string(), z.string()).optional(),
  source: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('git'), url: z.string() }),
      z.strictObject({ type: z.literal('files'), files: z.record(z.string(), z.string()) }),
    ])
    .optional(),
  when: z
    .union([
      z.strictObject({ every: z.string() }),
      z.strictObject({ cron: z.string(), timezone: z.string().optional() }),
    ])
    .optional(),
});
const View = z.object({
  id: z.string(),
  created_at: z.codec(z.iso.datetime(), z.date(), {
    decode: (text) => new Date(text),
    encode: (date) => date.toISOString(),
  }),
  owner: z.object({ name: z.string() }).nullable(),
});

let app: FastifyInstance;

beforeAll(async () => {
  ({ app } = await createEdgeApp((server) => {
    server.post('/spec', { schema: { body: Spec } }, async () => ({ ok: true }));
    server.post(
      '/optional',
      { schema: { body: z.strictObject({ force: z.boolean() }).optional() } },
      async (request) => ({ got: request.body ?? null }),
    );
    const query = z.strictObject({
      limit: z.coerce.number().int().min(1).max(200).default(50),
      from: z.iso.datetime({ offset: true }).or(z.iso.date()).optional(),
      cursor: z.string().optional(),
      since: z.iso.datetime({ offset: true }).optional(),
      until: TimeInput.optional(),
      day: z.iso.date().optional(),
      kind: repeated(z.enum(['small', 'large']), { max: 3 }),
    });
    server.get('/list', { schema: { querystring: query } }, async (request) => request.query);
    server.get('/plain', async () => ({ ok: true }));
    server.get('/items/:id', { schema: { params: z.strictObject({ id: Id }) } }, async (request) => request.params);
    server.get(
      '/slugs/:slug',
      { schema: { params: z.strictObject({ slug: z.string() }) } },
      async (request) => request.params,
    );
    server.get(
      '/view',
      { schema: { response: { 200: z.object({ items: z.array(View) }), 404: z.object({ error: z.string() }) } } },
      async () => ({
        items: [{ id: 'a', created_at: new Date(0), owner: { name: 'x', password_hash: 'leak' }, secret: 'leak' }],
        secret: 'leak',
      }),
    );
    server.delete('/gone', { schema: { response: { 204: z.undefined() } } }, async (_request, reply) =>
      reply.code(204).send(),
    );
  }));
});
afterAll(() => app.close());

/** Asks for problem details (RFC 9457). `read` then returns the message as `error`, and each fault in `errors`. */
const asProblem = { accept: 'application/problem+json' };
const read = (response: LightMyRequestResponse) => {
  const { detail, ...body } = response.json();
  return { ...body, status: response.statusCode, ...(detail && { error: detail }) };
};
const post = async (url: string, body: unknown) =>
  read(
    await app.inject({ method: 'POST', url, headers: { ...jsonType, ...asProblem }, payload: JSON.stringify(body) }),
  );

describe('an invalid body', () => {
  it.each([
    [{ name: 'x', nmae: 1 }, 'unknown field "nmae"'],
    [{ name: 'x', steps: [{ name: 'a', run: [], shell: 'sh' }] }, 'unknown field "steps[0].shell"'],
    [{ name: 'x', 'a b': 1 }, 'unknown field ["a b"]'],
    [{}, 'field "name" is required'],
    [{ name: null }, 'field "name" must be a string, not null'],
    [{ name: 7 }, 'field "name" must be a string, not a number'],
    [{ name: 'x', size: '3' }, 'field "size" must be a number, not a string'],
    [{ name: 'x', size: 2.5 }, 'field "size" must be an integer'],
    [{ name: 'x', steps: { name: 'a' } }, 'field "steps" must be an array, not an object'],
    [{ name: 'x', labels: { a: 1 } }, 'field "labels.a" must be a string, not a number'],
    [{ name: 'x', source: { type: 'files', files: {}, url: 'x' } }, 'unknown field "source.url"'],
    [{ name: 'x', when: { cron: 5 } }, 'field "when.cron" must be a string, not a number'],
    [{ name: 'x', when: {} }, 'field "when" needs "every", or "cron"'],
    [{ name: 'x', when: { no: 1 } }, 'field "when" needs "every", or "cron"; unknown field "when.no"'],
    [{ name: 'x', when: { timezone: 'UTC' } }, 'field "when.cron" is required'],
    [
      { name: 'x', when: { every: '1h', cron: '* * * * *' } },
      'field "when" takes "every", or "cron", but not several of these',
    ],
    [
      { name: 'x', when: { every: 1, cron: 2, timezone: 'UTC', no: 1 } },
      'field "when" takes "every", or "cron" and "timezone", but not several of these; unknown field "when.no"',
    ],
    [[], 'the body must be an object, not an array'],
    ['text', 'the body must be an object, not a string'],
  ])('%j has the error: %s', async (body, message) => {
    expect(await post('/spec', body)).toMatchObject({ status: 400, error: message });
  });

  it('has an error with the allowed range and choices', async () => {
    const errorOf = async (body: unknown) => (await post('/spec', body)).error;
    expect(await errorOf({ name: 'x', size: 6 })).toBe('field "size" must be at most 5');
    expect(await errorOf({ name: 'x', size: 0 })).toBe('field "size" must be at least 1');
    expect(await errorOf({ name: 'x', kind: 'huge' })).toBe('field "kind" must be one of small, large');
    expect(await errorOf({ name: 'x', source: {} })).toBe('field "source.type" is required: one of git, files');
    expect(await errorOf({ name: 'x', choice: {} })).toBe('field "choice.size" is required: one of small, large');
    expect(await errorOf({ name: 'x', mark: 'other' })).toBe('field "mark": expected an odd or an even mark');
    expect(await errorOf({ name: 'x'.repeat(11) })).toBe('field "name" must have at most 10 characters');
    expect(await errorOf({ name: 'x', steps: [{ name: '', run: [] }] })).toBe(
      'field "steps[0].name" must not be empty',
    );
    expect(await errorOf({ name: 'x', source: { type: 'http' } })).toBe(
      'field "source.type" must be one of git, files',
    );
  });

  it('has only a message, unless the client prefers problems of RFC 9457', async () => {
    const response = await app.inject({ method: 'POST', url: '/spec', headers: jsonType, payload: '{}' });
    expect(response.json()).toEqual({ error: 'field "name" is required' });
  });

  it('has an error with all problems', async () => {
    const answer = await post('/spec', { nmae: 1, size: 'x', steps: [{ name: '', run: 'ls' }] });
    expect(answer.status).toBe(400);
    expect(answer.errors.map((each: { path: string }) => each.path).sort()).toEqual(
      ['name', 'nmae', 'size', 'steps[0].name', 'steps[0].run'].sort(),
    );
    expect(answer.errors.every((each: { in: string }) => each.in === 'body')).toBe(true);
    for (const each of answer.errors) expect(answer.error).toContain(each.message);
  });

  it('has a short error that does not repeat values', async () => {
    const names = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`unknown_${index}`, 1]));
    const many = await post('/spec', { name: 'x', ...names });
    expect(many.errors).toHaveLength(20);
    expect(many.error).toMatch(/; and 4980 more$/);
    const long = await post('/spec', { name: 'x', ['k'.repeat(500_000)]: 1 });
    expect(JSON.stringify(long).length).toBeLessThan(1_000);
    const secret = await post('/spec', { name: { password: 'hunter2' }, kind: 'hunter2', size: 'hunter2' });
    expect(JSON.stringify(secret)).not.toContain('hunter2');
  });

  it('is rejected even if the body is optional, while an absent body is accepted', async () => {
    const absent = await app.inject({ method: 'POST', url: '/optional' });
    expect(absent.json()).toEqual({ got: null });
    expect(await post('/optional', { force: true })).toMatchObject({ got: { force: true } });
    expect((await post('/optional', { forced: true })).status).toBe(400);
  });

  it('is rejected if it is null, whether optional or not', async () => {
    for (const url of ['/optional', '/spec']) {
      const headers = { 'content-type': 'application/json' };
      const refused = await app.inject({ method: 'POST', url, payload: 'null', headers });
      expect([refused.statusCode, refused.json().error]).toEqual([400, 'the body must be an object, not null']);
    }
  });
});

describe('queries and paths', () => {
  const get = async (url: string) => {
    return read(await app.inject({ method: 'GET', url, headers: asProblem }));
  };

  it('are converted to the declared types, with defaults', async () => {
    expect(await get('/list?limit=7')).toEqual({ status: 200, limit: 7 });
    expect(await get('/list')).toEqual({ status: 200, limit: 50 });
  });

  it('queries and paths with unknown query parameters answer 400 and name them, even if none is declared', async () => {
    expect(await get('/list?limt=7&x=1')).toMatchObject({
      status: 400,
      error:
        'unknown query parameter "limt": known are limit, from, cursor, since, until, day, kind; unknown query parameter "x": known are limit, from, cursor, since, until, day, kind',
      errors: [
        { in: 'query', path: 'limt' },
        { in: 'query', path: 'x' },
      ],
    });
    expect(await get('/plain?debug=1')).toMatchObject({
      status: 400,
      error: 'unknown query parameter "debug": the operation takes none',
    });
    expect((await get('/list?__proto__=1')).status).toBe(400);
  });

  it('queries and paths with an invalid number, a repeated parameter or an empty one answer 400', async () => {
    for (const limit of ['ten', '2.5']) {
      const message = 'query parameter "limit": expected a whole number such as 12';
      expect((await get(`/list?limit=${limit}`)).error).toBe(message);
    }
    expect((await get('/list?limit=0')).error).toBe('query parameter "limit" must be at least 1');
    expect((await get('/list?cursor=a&cursor=b')).error).toMatch(/^query parameter "cursor" must be given only once/);
  });

  it('queries and paths with an invalid time answer 400 with what is accepted, and how to escape an offset', async () => {
    const errorOf = async (query: string) => (await get(`/list?${query}`)).error;
    const [time, day] = ['a time such as 2026-01-31T00:00:00Z', 'a day such as 2026-01-31'];
    expect(await errorOf('from=yesterday')).toBe(`query parameter "from": expected ${time}, or ${day}`);
    expect(await errorOf('since=2026-01-31')).toBe(`query parameter "since": expected ${time}`);
    expect(await errorOf('until=tomorrow')).toBe(`query parameter "until": expected ${time}`);
    expect(await errorOf('until=0000-12-31T00:00:00Z')).toBe(
      'query parameter "until": expected a time in the years 0001 to 9999 of UTC, such as 2026-01-31T09:00:00Z',
    );
    expect(await errorOf('day=31.1.2026')).toBe(`query parameter "day": expected ${day}`);
    const hint = '; a "+" must be sent as %2B, since it stands for a space in a query';
    expect(await errorOf('from=2026-01-31T10:00:00+01:00')).toBe(
      `query parameter "from": expected ${time}, or ${day}${hint}`,
    );
    expect(await errorOf('since=2026-01-31T10:00:00+01:00')).toBe(`query parameter "since": expected ${time}${hint}`);
    expect((await get('/list?from=2026-01-31T10:00:00%2B01:00')).status).toBe(200);
  });

  it('queries and paths with a wrong value of a parameter that may be repeated answer 400 and list its values', async () => {
    const message = 'query parameter "kind" must be one of small, large';
    for (const query of ['kind=huge', 'kind=small&kind=huge', 'kind=huge&kind=tiny', 'kind=', 'kind=small,large'])
      expect(await get(`/list?${query}`), query).toMatchObject({
        status: 400,
        error: message,
        errors: [{ in: 'query', path: 'kind', message }],
      });
    expect((await get('/list?kind=small&kind=large')).kind).toEqual(['small', 'large']);
  });

  it('queries and paths with brackets in the name of a parameter answer 400 and name it without them', async () => {
    for (const name of ['kind[]', 'kind[0]'])
      expect(await get(`/list?${name}=small`), name).toMatchObject({
        status: 400,
        error: `unknown query parameter "${name}": write "kind" without brackets, also where you repeat it`,
        errors: [{ in: 'query', path: name }],
      });
    expect((await get('/list?limit[]=7')).error).toBe(
      'unknown query parameter "limit[]": write "limit" without brackets, also where you repeat it',
    );
    expect((await get('/list?other[]=7')).error).toMatch(/^unknown query parameter "other\[\]": known are limit, /);
  });

  it('queries and paths with NUL or noncanonical ids answer 400 before any rule is applied', async () => {
    expect(await get('/slugs/a%00b')).toMatchObject({
      status: 400,
      error: 'path parameter "slug" contains a NUL character',
    });
    expect((await get('/list?cursor=%00')).status).toBe(400);
    expect((await get('/items/019AA5C2-7D31-7CC4-9C55-0D6A1F6C8B11')).error).toMatch(
      /^path parameter "id": expected a lowercase UUID/,
    );
    expect((await get('/items/00000000-0000-0000-0000-000000000000')).status).toBe(400);
  });
});

describe('response bodies', () => {
  it('contain only what their schema declares', async () => {
    const response = await app.inject({ method: 'GET', url: '/view' });
    expect(response.json()).toEqual({
      items: [{ id: 'a', created_at: '1970-01-01T00:00:00.000Z', owner: { name: 'x' } }],
    });
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it('have no body with status 204', async () => {
    const response = await app.inject({ method: 'DELETE', url: '/gone' });
    expect([response.statusCode, response.body]).toEqual([204, '']);
  });
});
