import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createMetricsRegistry } from '#api/edge/admin/metrics.ts';
import { Readiness } from '#api/edge/admin/readiness.ts';
import { operations as everyOperation } from '#api/operations.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { registerOperations } from '#api/pipeline/pipeline.ts';
import { buildServer } from '#api/server.ts';
import { html } from '#api/web/html.ts';
import type { PagePattern } from '#api/web/paths.ts';
import { pageAdder } from '#api/web/visit/route.ts';
import { newId } from '#domain/shared/ids.ts';
import { type ApiUser, startApi, type TestApi, testPassword } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { Visitor } from '#test/support/browser/visitor.ts';

const access = { anyOf: ['connection:manage'], scope: 'platform', hidden: 'not_found', review: 'none' } as const;
const params = z.strictObject({ name: z.string().max(20) });

const ThingView = z.object({ name: z.string() });

const readThing = read({
  id: 'things.read',
  route: 'GET /api/v1/things/:name',
  summary: 'Read',
  params,
  access,
  responses: { 200: ThingView },
  handle: async ({ params: { name } }) => ({ name, secret: 'never shown' }),
});

const makeThing = command({
  id: 'things.make',
  route: 'POST /api/v1/things/:name',
  summary: 'Make',
  params,
  access,
  audit: 'thing.made',
  body: z.strictObject({ size: z.enum(['small', 'large']).default('small') }),
  responses: { 201: ThingView },
  at: readThing,
  idempotency: 'required',
  handle: async ({ params: { name }, body }) => ({
    id: newId(),
    after: { name, size: body.size },
    answer: { name },
  }),
  atParams: (_change, asked) => asked.params,
});

let api: TestApi;
let app: FastifyInstance;
let ana: ApiUser;
let visitor: Visitor;

beforeAll(async () => {
  api = await startApi();
  const { services } = api;
  app = await buildServer(services, { readiness: new Readiness([]), registry: createMetricsRegistry() });
  const operations = [readThing, makeThing];
  registerOperations(app, operations, services);
  // The navigation around the page asks about operations of the service.
  const context = {
    operations: [...everyOperation, ...operations],
    services,
    navigation: [],
    countForBar: async () => ({ approvals: null, unread: null }),
    findNamed: async () => new Map(),
  };
  const addPage = pageAdder(app, context);
  // The path is one of this test alone.
  const path = '/things/:name' as PagePattern;
  addPage('GET', path, async (visit) => {
    const thing = await visit.read(readThing, { params: visit.params });
    return visit.show({ title: thing.name, main: html`${JSON.stringify(thing)}` });
  });
  addPage('POST', path, async (visit) => {
    const { key, size } = visit.form('key', 'size');
    const input = { params: visit.params, body: size ? { size } : {}, ...(key && { key }) };
    const thing = await visit.run(makeThing, input);
    return visit.show({ title: 'Made', main: html`<h1>${JSON.stringify(thing)}</h1>` });
  });
  await app.ready();
  ana = await api.addUser('maintainer', 'Ana');
  visitor = await signInVisitor({ app }, ana);
});
afterAll(async () => {
  await app?.close();
  await api?.close();
});

function callApi(name: string, body: object, key: string) {
  const headers = { cookie: visitor.cookie!, 'sec-fetch-site': 'same-origin', 'idempotency-key': key };
  return app.inject({ method: 'POST', url: `/api/v1/things/${name}`, headers, payload: body });
}

const made = (name: string) =>
  api.rows<{ actor_id: string; outcome: string }>(
    `select actor_id, outcome, after ->> 'size' as size from audit_records where action = 'thing.made' and after ->> 'name' = ?`,
    [name],
  );

describe('a page that invokes an operation', () => {
  it('shows only what the API would return', async () => {
    const { status, text } = await visitor.get('/things/one');
    expect([status, text.includes('{&quot;name&quot;:&quot;one&quot;}'), text.includes('secret')]).toEqual([
      200,
      true,
      false,
    ]);
  });

  it('carries out a command once for the same key from pages and the API, with one audit record of the visitor', async () => {
    const key = crypto.randomUUID();
    expect((await visitor.submit('/things/two', { key, size: 'large' })).status).toBe(200);
    expect((await visitor.submit('/things/two', { key, size: 'large' })).text).toContain('&quot;two&quot;');
    const repeated = await callApi('two', { size: 'large' }, key);
    expect([repeated.statusCode, repeated.json()]).toEqual([201, { name: 'two' }]);
    expect(await made('two')).toEqual([{ actor_id: ana.id, outcome: 'committed', size: 'large' }]);

    const otherInput = await visitor.submit('/things/two', { key, size: 'small' });
    expect([otherInput.status, otherInput.text.includes('was used for another request')]).toEqual([409, true]);
    expect((await visitor.submit('/things/other', { key, size: 'large' })).status).toBe(409);
    expect((await callApi('two', {}, key)).statusCode).toBe(409);
  });

  it('binds a key to the input, whether it states a default or not', async () => {
    const key = crypto.randomUUID();
    expect((await callApi('three', {}, key)).statusCode).toBe(201);
    expect((await visitor.submit('/things/three', { key })).status).toBe(200);
    expect((await visitor.submit('/things/three', { key, size: 'small' })).status).toBe(200);
    expect((await visitor.submit('/things/three', { key, size: 'large' })).status).toBe(409);
    expect(await made('three')).toEqual([{ actor_id: ana.id, outcome: 'committed', size: 'small' }]);
  });

  it('carries out a command once for concurrent submissions of a form', async () => {
    const key = crypto.randomUUID();
    const answers = await Promise.all(Array.from({ length: 5 }, () => visitor.submit('/things/four', { key })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await made('four')).toHaveLength(1);
  });

  it('rejects a form without a valid key or with invalid input', async () => {
    for (const key of ['', 'x', '00000000-0000-0000-0000-000000000000'])
      expect((await visitor.submit('/things/five', { key })).status).toBe(400);
    const key = crypto.randomUUID();
    const wrong = await visitor.submit('/things/five', { key, size: 'huge' });
    expect([wrong.status, wrong.text.includes('Choose one of the options.')]).toEqual([400, true]);
    expect((await visitor.submit(`/things/${'x'.repeat(21)}`, { key })).status).toBe(404);
    expect((await visitor.get('/things/a%00b')).status).toBe(404);
    expect(await made('five')).toEqual([]);
  });

  it('refuses a visitor without the permission, and audits that as the API does', async () => {
    const bea = await api.addUser('requester', 'Bea');
    const beas = await signInVisitor({ app }, bea);
    const refused = await beas.submit('/things/six', { key: crypto.randomUUID(), size: 'huge' });
    expect([refused.status, refused.text.includes('this needs the platform role maintainer')]).toEqual([403, true]);
    expect((await beas.get('/things/six')).status).toBe(403);
    const headers = {
      cookie: beas.cookie!,
      'sec-fetch-site': 'same-origin',
      'idempotency-key': crypto.randomUUID(),
    };
    await app.inject({ method: 'POST', url: '/api/v1/things/six', headers, payload: {} });
    const rows = await api.rows<{ action: string }>(
      `select action, resource_type, after from audit_records where actor_id = ? and outcome = 'refused' order by id`,
      [bea.id],
    );
    expect(rows.map(({ action }) => action)).toEqual(['thing.made', 'things.read', 'thing.made']);
    expect(rows[0]).toEqual(rows[2]);
  });

  it('redirects an anonymous visitor to the sign-in page and back', async () => {
    const anonymous = new Visitor(app);
    const asked = await anonymous.get('/things/eight?a=b&c');
    expect([asked.status, asked.location]).toEqual([303, '/login?next=%2Fthings%2Feight%3Fa%3Db%26c']);
    const [, next] = /name="next" value="([^"]+)"/.exec((await anonymous.get(asked.location!)).text)!;
    const fields = { email: ana.email, password: testPassword, next: next!.replaceAll('&amp;', '&') };
    const back = await anonymous.submit('/login', fields);
    expect(back.location).toBe('/things/eight?a=b&c');
    expect((await anonymous.get(back.location!)).status).toBe(200);
  });

  it('answers 401 to a form of an anonymous visitor or of a disabled user', async () => {
    const stranger = await new Visitor(app).submit('/things/seven', { key: crypto.randomUUID() });
    expect([stranger.status, stranger.headers['content-type']]).toEqual([401, 'text/html; charset=utf-8']);
    expect(stranger.text).toContain('name="next" value="/things/seven"');
    const cid = await api.addUser('maintainer', 'Cid');
    const cids = await signInVisitor({ app }, cid);
    await api.rows('update principals set enabled = false where id = ?', [cid.id]);
    expect((await cids.submit('/things/seven', { key: crypto.randomUUID() })).status).toBe(401);
    expect(await made('seven')).toEqual([]);
  });
});
