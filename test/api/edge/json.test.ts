import { request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { formBodyLimit } from '#api/edge/json/strict-json.ts';
import { parseStrictJson } from '#domain/shared/values/strict-json.ts';
import { createEdgeApp, jsonType } from '#test/support/api/edge-app.ts';
import { within } from '#test/support/slowness.ts';

let app: FastifyInstance;

beforeAll(async () => {
  ({ app } = await createEdgeApp((server) => {
    server.post('/any', { schema: { body: z.unknown() } }, async (request) => ({ got: request.body ?? null }));
    server.post('/named', { schema: { body: z.strictObject({ name: z.string() }) } }, async () => ({ ok: true }));
    server.post('/bare', async (request) => ({ got: request.body ?? null }));
    server.post('/login', { config: { form: true }, bodyLimit: formBodyLimit }, async (request) => ({
      got: request.body,
    }));
    server.get('/read', async () => ({ ok: true }));
  }));
  await app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => app.close());

const post = (url: string, payload: string | Buffer, headers: Record<string, string> = jsonType) =>
  app.inject({ method: 'POST', url, payload, headers });

describe('the strict decoder', () => {
  it.each([
    ['{}', {}],
    [' [1,2.5,-3e2] \n', [1, 2.5, -300]],
    ['"text"', 'text'],
    ['{"a":{"a":1},"b":[{"a":1},{"a":2}]}', { a: { a: 1 }, b: [{ a: 1 }, { a: 2 }] }],
    ['{"constructor":1,"prototype":2,"toString":3}', { constructor: 1, prototype: 2, toString: 3 }],
    ['"\\ud83d\\ude00"', '😀'],
    ['9007199254740991', 9007199254740991],
    ['[0.1,-0.0,1e22,0.123456789012345]', [0.1, 0, 1e22, 0.123456789012345]],
    ['[1.7976931348623157e308,5e-324,0.10000000000000000000]', [1.7976931348623157e308, 5e-324, 0.1]],
  ])('accepts %s', async (text, value) => {
    const response = await post('/any', text);
    expect(response.json()).toEqual({ got: value });
  });

  it.each([
    ['{"a":1}{"b":2}', /exactly one JSON value.*line 1, column 8/],
    ['{"a":1} garbage', /exactly one JSON value/],
    ['{"a":1},', /exactly one JSON value/],
    ['{"a":1', /not valid JSON at line 1/],
    ['{"a":1,}', /not valid JSON at line 1, column 8/],
    ['{"a":"one\ntwo"}', /line 1, column 6: a text in quotes cannot contain a line break: write .n in its place/],
    ['{"a":"one', /not valid JSON at line 1, column 6$/],
    ['{a:1}', /not valid JSON/],
    ["{'a':1}", /not valid JSON/],
    ['{"a":1}// no', /not valid JSON|exactly one/],
    ['{/* no */"a":1}', /not valid JSON/],
    ['{"a":\n\n  tru}', /not valid JSON at line 3, column 3/],
    ['NaN', /not valid JSON/],
    ['01', /not valid JSON|exactly one/],
    ['"\u0001"', /not valid JSON/],
    ['{"a":1,"a":1}', /the key a is given more than once/],
    ['{"x":[{"deep":{"k":1,"other":2,"k":3}}]}', /the key x\[0\]\.deep\.k is given more than once/],
    ['{"a":1,"\\u0061":2}', /the key a is given more than once/],
    ['{"":1,"":2}', /the key \[""\] is given more than once/],
    ['{"__proto__":{"admin":true}}', /the key __proto__ is not allowed/],
    ['{"\\u005f_proto__":1}', /the key __proto__ is not allowed/],
    ['{"a":{"constructor":{"prototype":{"x":1}}}}', /the key a\.constructor\.prototype is not allowed/],
    ['{"a":"x\\u0000y"}', /a contains a NUL character/],
    ['{"a\\u0000":1}', /contains a NUL character/],
    ['["\\ud800"]', /\[0\] contains half of a surrogate pair/],
    ['{"n":1e999}', /n is a number out of range/],
    ['{"n":9007199254740993}', /n is an integer beyond 2\^53/],
    ['[0,-9007199254740993]', /\[1\] is an integer beyond 2\^53/],
    ['{"n":9007199254740993.0}', /n is a number that would lose digits: send at most 15 of them/],
    ['{"n":9.007199254740993e15}', /n is a number that would lose digits/],
    ['{"n":[0.12345678901234567890]}', /n\[0\] is a number that would lose digits/],
    ['{"n":-1e-400}', /n is a number that would lose digits/],
  ])('rejects %s', async (text, message) => {
    const response = await post('/any', text);
    expect(response.statusCode).toBe(400);
    expect(response.json().error).toMatch(message);
  });

  it('reports the path and the line of a duplicate key', async () => {
    const payload = '{\n "vars": {"size": 1,\n  "size": 2}\n}';
    const headers = { ...jsonType, accept: 'application/problem+json' };
    const response = await app.inject({ method: 'POST', url: '/any', headers, payload });
    expect(response.json().errors).toEqual([
      { in: 'body', path: 'vars.size', message: 'the key vars.size is given more than once', line: 3, column: 3 },
    ]);
  });

  it('rejects a byte order mark, invalid UTF-8, and UTF-16', async () => {
    expect((await post('/any', Buffer.from('\ufeff{}'))).json().error).toMatch(/byte order mark/);
    expect((await post('/any', Buffer.from([0x22, 0xff, 0x22]))).json().error).toMatch(/not valid UTF-8/);
    expect((await post('/any', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))).json().error).toMatch(/not valid UTF-8/);
    expect((await post('/any', Buffer.from('{}', 'utf16le'))).statusCode).toBe(400);
  });

  it('rejects excessive nesting quickly, closed or not', async () => {
    await within(2_000, async () => {
      const closed = await post('/any', '['.repeat(400_000) + ']'.repeat(400_000));
      expect(closed.json().error).toMatch(/nested deeper than 100 levels/);
      for (const bomb of [
        '['.repeat(1_000_000),
        '{"a":'.repeat(200_000),
        `{"a":],"b":${'{"a":],"b":'.repeat(90_000)}`,
      ]) {
        expect((await post('/any', bomb)).statusCode).toBe(400);
      }
    });
    expect((await post('/any', '['.repeat(100) + ']'.repeat(100))).statusCode).toBe(200);
    expect((await post('/any', '['.repeat(101) + ']'.repeat(101))).statusCode).toBe(400);
  });

  it('does not repeat an invalid body in its answer', async () => {
    const response = await post('/any', '{"password": "hunter2-secret" oops}');
    expect(response.statusCode).toBe(400);
    expect(response.body).not.toContain('hunter2');
  });

  it('takes linear time for a large body', () => {
    const item = { name: 'instance', tags: ['a', 'b'], nested: { size: 3, zone: 'é' } };
    const textOf = (length: number) => JSON.stringify({ items: Array.from({ length }, (_, id) => ({ id, ...item })) });
    const timeOf = (text: string) => {
      const times = [1, 2, 3, 4, 5].map(() => {
        const started = performance.now();
        expect(parseStrictJson(text).ok).toBe(true);
        return performance.now() - started;
      });
      return Math.min(...times);
    };
    const [small, large] = [textOf(1_400), textOf(14_000)];
    expect(large.length).toBeGreaterThan(1_000_000);
    expect(timeOf(large) / timeOf(small)).toBeLessThan(40);
  });

  it('takes linear time for an object with many keys', async () => {
    const text = JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, id) => [`key_${id}`, id])));
    const parsed = await within(1_000, () => parseStrictJson(`${text.slice(0, -1)},"key_0":1}`));
    expect(parsed).toMatchObject({ ok: false, problem: { path: ['key_0'] } });
  });
});

describe('a body', () => {
  it('a body of 1 MiB is accepted, and one byte more answers 413', async () => {
    const exact = `"${'x'.repeat(1024 * 1024 - 2)}"`;
    expect((await post('/any', exact)).statusCode).toBe(200);
    const over = await post('/any', `${exact} `);
    expect(over.statusCode).toBe(413);
    expect(over.json()).toEqual({ error: 'the body is larger than 1 MiB' });
  });

  it('a body that is too large answers 413 while the client is still sending, and without a declared length', async () => {
    const { port } = app.server.address() as AddressInfo;
    for (const headers of [{ 'content-length': String(20 * 1024 * 1024) }, { 'transfer-encoding': 'chunked' }]) {
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const sending = httpRequest(
          { port, method: 'POST', path: '/any', headers: { ...jsonType, ...headers } },
          (response) => {
            response.resume();
            resolve(response.statusCode);
            sending.destroy();
          },
        );
        sending.on('error', reject);
        sending.write(Buffer.alloc(3 * 1024 * 1024, 'x'));
      });
      expect(status).toBe(413);
    }
  });

  it.each([
    ['text/plain'],
    ['application/xml'],
    ['multipart/form-data; boundary=x'],
    ['application/x-www-form-urlencoded'],
    ['application/jsonx'],
    ['application/json-patch+json'],
    ['not a type'],
  ])('a body of type %s answers 415 and names the accepted type', async (type) => {
    const response = await post('/any', '{}', { 'content-type': type });
    expect(response.statusCode).toBe(415);
    expect(response.json().error).toBe('the content type is not supported: send Content-Type: application/json');
    expect(response.headers['accept']).toBe('application/json');
  });

  it('a body without a content type, in another charset or compressed answers 415', async () => {
    expect((await post('/any', '{}', { 'content-length': '2' })).statusCode).toBe(415);
    expect((await post('/any', '{}', { 'content-type': 'application/json; charset=latin1' })).json().error).toMatch(
      /UTF-8/,
    );
    expect((await post('/any', '{}', { ...jsonType, 'content-encoding': 'gzip' })).json().error).toMatch(
      /Content-Encoding/,
    );
    expect((await post('/any', '{}', { 'content-type': 'Application/JSON; charset="UTF-8"' })).statusCode).toBe(200);
  });

  it.each(['application/x-www-form-urlencoded', 'text/plain', 'nonsense'])(
    'a body that is empty needs no content type: %s is accepted',
    async (type) => {
      expect((await post('/bare', '', { 'content-type': type })).statusCode).toBe(200);
      expect((await post('/named', '', { 'content-type': type })).json().error).toMatch(/a JSON body is required/);
    },
  );

  it('a body that is required but absent or empty answers 400', async () => {
    for (const response of [await app.inject({ method: 'POST', url: '/named' }), await post('/named', '')]) {
      expect(response.statusCode).toBe(400);
      expect(response.json().error).toMatch(/a JSON body is required/);
    }
    expect((await post('/named', ' \n')).json().error).toMatch(/required/);
  });

  it('a body that the route does not declare answers 400, unless it is an empty object', async () => {
    expect((await app.inject({ method: 'POST', url: '/bare' })).statusCode).toBe(200);
    expect((await post('/bare', '')).statusCode).toBe(200);
    expect((await post('/bare', '{}')).statusCode).toBe(200);
    for (const body of ['{"x":1}', '[]', '0', '"x"']) {
      expect((await post('/bare', body)).json().error).toMatch(/takes no body/);
    }
  });

  it('may be a form only on routes that declare forms, which accept nothing else', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const accepted = await post('/login', 'email=a%40b.c&password=x+y&__proto__=z', form);
    expect(accepted.json().got).toMatchObject({ email: 'a@b.c', password: 'x y' });
    expect((await post('/login', '{}')).json().error).toMatch(/send Content-Type: application\/x-www-form-urlencoded/);
    expect((await post('/login', `x=${'y'.repeat(70_000)}`, form)).json()).toEqual({
      error: 'the body is larger than 64 KiB',
    });
  });

  it('a body that is broken does not affect the next request on the same connection', async () => {
    const { port } = app.server.address() as AddressInfo;
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
      const body = '{"a":1,"a":2}';
      socket.write(
        `POST /any HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      socket.write('GET /read HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n');
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).not.toMatch(/HTTP\/1\.1 500/);
  });
});
