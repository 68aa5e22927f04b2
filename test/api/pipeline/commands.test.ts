import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { runApi } from '#api/main.ts';
import { commandKey } from '#api/pipeline/headers/idempotency.ts';
import { type CommandOperation, command } from '#api/pipeline/operation.ts';
import { addEnvironment, addPerson, addTeam, type Person, publish, sayHello } from '#test/support/access/people.ts';
import { type ApiProcess, startApiProcess } from '#test/support/api/api-process.ts';
import { Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { awaitLockWaits } from '#test/support/database/lock-waits.ts';

const spec = {
  ...sayHello,
  variables: { type: 'object', properties: { size: { type: 'integer', default: 3 } } },
};

let api: TestApi;
let root: Person;
let templateId: string;
beforeAll(async () => {
  api = await startApi();
  root = await addPerson(api, 'admin');
  templateId = await publish(root.caller, spec);
});
afterAll(async () => {
  await api?.close();
});

const withKey = (key: string) => ({ 'idempotency-key': key });
const admit = (caller: Caller, key: string, body: object = {}) =>
  caller.post('/runs', { template_id: templateId, ...body }, withKey(key));
const select = <Row extends object>(sql: string, ...params: unknown[]) => api.orm.em.fork().execute<Row[]>(sql, params);
const count = async (sql: string, ...params: unknown[]) =>
  (await select<{ n: number }>(`select count(*)::int as n from ${sql}`, ...params))[0]?.n;

describe('an idempotency key', () => {
  it.each([
    ['an uppercase UUID', randomUUID().toUpperCase()],
    ['the zero UUID', '00000000-0000-0000-0000-000000000000'],
    ['a UUID in braces', `{${randomUUID()}}`],
    ['a UUID without hyphens', randomUUID().replaceAll('-', '')],
    ['two different keys in one header', `${randomUUID()}, ${randomUUID()}`],
    ['the same key twice in one header', ((key) => `${key}, ${key}`)(randomUUID())],
    ['not a UUID', 'deploy-network'],
    ['empty', ''],
  ])('is rejected if it is %s', async (_name, key) => {
    const answer = await admit(root.caller, key);
    expect(answer.status, answer.text).toBe(400);
    expect(answer.body.error).toMatch(/^the header Idempotency-Key must/);
  });

  it.each(['the same', 'another'])('is rejected if it is sent twice: %s one', async (which) => {
    const key = randomUUID();
    const keys = [key, which === 'another' ? randomUUID() : key];
    expect(await sendRaw({ 'idempotency-key': keys })).toBe(400);
    expect((await admit(root.caller, key)).status).toBe(202);
  });

  it('is required by some operations, and generated for others', async () => {
    const app = Fastify();
    for (const idempotency of ['required', 'optional', 'none'] as const)
      app.post(`/${idempotency}`, async (sent) => ({ key: commandKey(declare(idempotency), sent) }));
    const answers = async (url: string, headers = {}) => (await app.inject({ method: 'POST', url, headers })).json();
    expect(await answers('/required')).toMatchObject({
      message: expect.stringMatching(/^the header Idempotency-Key is required/),
    });
    const key = randomUUID();
    expect(await answers('/required', withKey(key))).toEqual({ key });
    expect((await answers('/optional')).key).toMatch(/^[0-9a-f-]{36}$/);
    expect(await answers('/none', withKey(key))).toEqual({ key: null });
    await app.close();
  });

  it('is returned in the answer, even if it was generated', async () => {
    const key = randomUUID();
    const given = await admit(root.caller, key);
    expect(given.headers.get('idempotency-key')).toBe(key);
    expect(given.body.idempotency_key).toBe(key);
    const made = await root.caller.post('/runs', { template_id: templateId });
    expect(made.headers.get('idempotency-key')).toBe(made.body.idempotency_key);
    const again = await admit(root.caller, made.body.idempotency_key);
    expect(again.body.id).toBe(made.body.id);
  });

  it('makes the answer of a command uncacheable', async () => {
    const answer = await admit(root.caller, randomUUID());
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  function declare(idempotency: CommandOperation['idempotency']): CommandOperation {
    return command({
      id: 'tests.command',
      route: 'POST /command',
      summary: 'A command',
      audit: 'test.done',
      idempotency,
      responses: { 204: z.undefined() },
      access: { public: 'a test' },
      handle: async () => ({ id: null }),
    });
  }

  function sendRaw(headers: Record<string, string[]>): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const sent = request(`${api.url}/api/v1/runs`, {
        method: 'POST',
        headers: { ...headers, 'x-api-key': root.key, 'content-type': 'application/json' },
      });
      sent.on('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', reject);
      sent.end(JSON.stringify({ template_id: templateId }));
    });
  }
});

describe('repeating an idempotency key', () => {
  it('admits one run for 50 concurrent requests at two processes', async () => {
    const processes = await Promise.all([startProcess(), startProcess()]);
    try {
      const callers = processes.map(({ url }) => new Caller(url, { 'x-api-key': root.key }));
      const key = randomUUID();
      const before = await count('audit_records where action = ?', 'run.created');
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) => admit(callers[index % 2]!, key, { instance: 'raced' })),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
      expect(new Set(answers.map(({ headers }) => headers.get('location'))).size).toBe(1);
      const settled = await Promise.all(callers.map((caller) => admit(caller, key, { instance: 'raced' })));
      expect(settled[0]?.text).toBe(settled[1]?.text);
      expect(await count('runs where idempotency_key = ?', key)).toBe(1);
      expect(await count('command_receipts where key = ?', key)).toBe(1);
      expect(await count('domain_events e join runs r on r.id = e.subject_id where r.idempotency_key = ?', key)).toBe(
        1,
      );
      expect(await count('audit_records where action = ?', 'run.created')).toBe((before ?? 0) + 1);
      expect(await select('select next_position from instances where name = ?', 'raced')).toEqual([
        { next_position: 2 },
      ]);
    } finally {
      await Promise.all(processes.map((process) => process.stop()));
    }
  });

  it('starts one workflow for 50 concurrent requests', async () => {
    const away = await startProcess({ TEMPORAL_ADDRESS: '127.0.0.1:1' });
    try {
      const caller = new Caller(away.url, { 'x-api-key': root.key });
      const key = randomUUID();
      await Promise.all(Array.from({ length: 50 }, () => admit(caller, key)));
      expect(await select('select payload from outbox where target = ?', key)).toMatchObject([
        { payload: { kind: 'start' } },
      ]);
    } finally {
      expect(await away.stop()).toEqual({ code: 0, errors: '' });
    }
  });

  it.each(['value', 'type', 'member more', 'member less'])(
    'repeating a key with another body answers 409: another %s',
    async (what) => {
      const key = randomUUID();
      const first = { variables: { size: 4 }, message: 'first' };
      expect((await admit(root.caller, key, first)).status).toBe(202);
      const others: Record<string, object> = {
        value: { ...first, message: 'second' },
        type: { ...first, variables: { size: '4' } },
        'member more': { ...first, operation: 'plan' },
        'member less': { message: 'first' },
      };
      expectBoundElsewhere(await admit(root.caller, key, others[what]));
      expect((await admit(root.caller, key, { message: 'first', variables: { size: 4 } })).status).toBe(202);
    },
  );

  it('repeating a key with another body answers 409 even if that body is invalid', async () => {
    const key = randomUUID();
    await admit(root.caller, key);
    expectBoundElsewhere(await admit(root.caller, key, { variables: { size: 'large' } }));
    expectBoundElsewhere(await admit(root.caller, key, { template_id: randomUUID() }));
  });

  it('repeating the key of another caller answers 409 and reveals nothing about the first command', async () => {
    const key = randomUUID();
    const first = await admit(root.caller, key);
    const other = await addPerson(api, 'requester');
    const answer = await admit(other.caller, key);
    expectBoundElsewhere(answer);
    expect(answer.text).not.toContain(first.body.id);
    expect(answer.headers.get('location')).toBeNull();
  });

  it('repeating a key as the same user with another credential repeats the command', async () => {
    const person = await addPerson(api, 'requester', {}, 'correct horse battery');
    const session = await Caller.signIn(api.url, person.email, 'correct horse battery');
    const key = randomUUID();
    const first = await admit(person.caller, key);
    expect((await admit(session, key)).body.id).toBe(first.body.id);
  });

  it('repeating a key for another operation or another target answers 409', async () => {
    const key = randomUUID();
    const first = await admit(root.caller, key);
    const second = await admit(root.caller, randomUUID());
    expectBoundElsewhere(await root.caller.post(`/runs/${first.body.id}/cancel`, {}, withKey(key)));
    const cancelKey = randomUUID();
    const canceled = await root.caller.post(`/runs/${first.body.id}/cancel`, {}, withKey(cancelKey));
    expect(canceled.status, canceled.text).toBe(202);
    expectBoundElsewhere(await root.caller.post(`/runs/${second.body.id}/cancel`, {}, withKey(cancelKey)));
    expectBoundElsewhere(await root.caller.post(`/runs/${randomUUID()}/cancel`, {}, withKey(cancelKey)));
    expectBoundElsewhere(await root.caller.post(`/runs/${first.body.id}/cancel`, { force: true }, withKey(cancelKey)));
    expect((await root.caller.get(`/runs/${second.body.id}`)).body.status).toBe('queued');
  });

  it('repeating a key after a restart repeats the command', async () => {
    const key = randomUUID();
    const first = await admit(root.caller, key);
    const restarted = await runApi(api.config);
    try {
      const caller = new Caller(restarted.url, { 'x-api-key': root.key });
      expect((await admit(caller, key)).body.id).toBe(first.body.id);
      expectBoundElsewhere(await admit(caller, key, { message: 'another' }));
    } finally {
      await restarted.close();
    }
  });

  it('returns the first run even after its template was archived', async () => {
    const template = await publish(root.caller, spec);
    const body = { template_id: template };
    const key = randomUUID();
    const first = await admit(root.caller, key, body);
    expect((await root.caller.post(`/registry/templates/${template}/archive`)).status).toBe(200);
    expect((await admit(root.caller, randomUUID(), body)).status).toBe(409);
    const again = await admit(root.caller, key, body);
    expect(again.status, again.text).toBe(202);
    expect(again.body.id).toBe(first.body.id);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
  });

  it('is accepted if the body states a default or omits it', async () => {
    const template = await publish(root.caller, spec);
    const requests = [
      { template_id: template },
      { template_id: template, operation: 'apply' },
      { template_id: template, operation: 'apply', variables: {}, replace: [], message: '' },
    ];
    for (const first of requests) {
      const key = randomUUID();
      const { body } = await admit(root.caller, key, first);
      for (const again of requests)
        expect(await admit(root.caller, key, again)).toMatchObject({ status: 202, body: { id: body.id } });
      expectBoundElsewhere(await admit(root.caller, key, { ...first, operation: 'destroy' }));
      expectBoundElsewhere(await admit(root.caller, key, { ...first, message: 'another' }));
    }
  });

  it('is accepted if an empty body was sent in place of none', async () => {
    const key = randomUUID();
    const { body } = await admit(root.caller, randomUUID());
    const cancel = (sent?: object) =>
      root.caller.send('POST', `/runs/${body.id}/cancel`, sent, { 'idempotency-key': key });
    for (const sent of [undefined, {}]) expect((await cancel(sent)).status).toBe(202);
    expectBoundElsewhere(await cancel({ force: true }));
  });

  it("is accepted if the path has the organization's id, slug or earlier slug", async () => {
    const { body: organization } = await root.caller.post('/organizations', { name: `Named ${randomUUID()}` });
    const { id, slug } = organization;
    await root.caller.send('PATCH', `/organizations/${id}`, { slug: `${slug}-new` });
    const { body: team } = await root.caller.post(`/organizations/${id}/teams`, { name: 'Brief' });
    const key = randomUUID();
    const remove = (name: string) =>
      root.caller.send('DELETE', `/organizations/${name}/teams/${team.id}`, undefined, { 'idempotency-key': key });
    for (const name of [slug, `${slug}-new`, id, slug]) expect((await remove(name)).status, name).toBe(204);
    const { body: other } = await root.caller.post('/organizations', { name: `Other ${randomUUID()}` });
    expectBoundElsewhere(await remove(other.id));
    expectBoundElsewhere(await remove(other.slug));
  });

  it('is accepted for a receipt that has only the fields that were sent', async () => {
    const key = randomUUID();
    const first = await admit(root.caller, key);
    await select('update command_receipts set resolved_binding = null where key = ?', key);
    expect((await admit(root.caller, key)).body.id).toBe(first.body.id);
    expectBoundElsewhere(await admit(root.caller, key, { operation: 'apply' }));
  });

  it('returns the current state of the run', async () => {
    const key = randomUUID();
    const { body } = await admit(root.caller, key);
    await root.caller.post(`/runs/${body.id}/cancel`, { force: true });
    expect((await admit(root.caller, key)).body).toMatchObject({ id: body.id, status: 'canceled' });
  });

  it('does not show a result that its caller may no longer read', async () => {
    const { teamId } = await addTeam(api.orm);
    const { environmentId } = await addEnvironment(api.orm, teamId);
    const person = await addPerson(api, 'requester', { teams: { [teamId]: 'member' } });
    const key = randomUUID();
    const first = await admit(person.caller, key, { environment_id: environmentId });
    expect(first.status, first.text).toBe(202);
    await select('delete from team_members where principal_id = ?', person.id);
    const again = await admit(person.caller, key, { environment_id: environmentId });
    expect(again.status).toBe(404);
    expect(again.text).not.toContain(first.body.id);
    expect(again.headers.get('location')).toBeNull();
  });

  function expectBoundElsewhere(answer: { status: number; text: string; body: { error?: string } }): void {
    expect(answer.status, answer.text).toBe(409);
    expect(answer.body.error).toMatch(/^this idempotency key was used for another request/);
  }
});

describe('a refused command', () => {
  it('does not bind its key', async () => {
    const key = randomUUID();
    const stranger = await addPerson(api, 'requester');
    const { teamId } = await addTeam(api.orm);
    const { environmentId } = await addEnvironment(api.orm, teamId);
    const archived = await publish(root.caller, spec);
    await root.caller.post(`/registry/templates/${archived}/archive`);
    const refused: [number, Caller, object][] = [
      [401, new Caller(api.url, {}), {}],
      [404, stranger.caller, { environment_id: environmentId }],
      [404, root.caller, { template_id: randomUUID() }],
      [400, root.caller, { unknown: true }],
      [422, root.caller, { variables: { size: 'large' } }],
      [409, root.caller, { template_id: archived }],
    ];
    for (const [status, caller, body] of refused) {
      const answer = await admit(caller, key, body);
      expect(answer.status, answer.text).toBe(status);
    }
    expect(await count('command_receipts where key = ?', key)).toBe(0);
    expect((await admit(root.caller, key)).status).toBe(202);
  });

  it('leaves only audit records, and a limited number of them per minute', async () => {
    const { teamId } = await addTeam(api.orm);
    const template = await publish(root.caller, spec, teamId);
    const { body: run } = await root.caller.post('/runs', { template_id: template });
    const stranger = await addPerson(api, 'maintainer');
    for (let index = 0; index < 70; index += 1)
      expect((await stranger.caller.post(`/runs/${run.id}/cancel`)).status).toBe(404);
    const lines = await select<{ outcome: string }>(
      'select outcome, action, resource_type, resource_id from audit_records where actor_id = ?',
      stranger.id,
    );
    const line = { outcome: 'refused', action: 'run.cancel_requested', resource_type: 'runs', resource_id: run.id };
    expect(lines[0]).toEqual(line);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThanOrEqual(120);
  });

  it('is audited without exhausting the connection pool, even if many are refused at once', async () => {
    const small = await runApi({ ...api.config, databasePoolSize: 2 });
    try {
      const { teamId } = await addTeam(api.orm);
      const template = await publish(root.caller, spec, teamId);
      const { body: run } = await root.caller.post('/runs', { template_id: template });
      const strangers = await Promise.all(
        Array.from({ length: 12 }, () => addPerson({ ...api, url: small.url }, 'maintainer')),
      );
      const answers = Promise.all(strangers.map(({ caller }) => caller.post(`/runs/${run.id}/cancel`)));
      const late = new Promise<never>((_resolve, reject) => {
        setTimeout(() => reject(new Error('no answer in 5 s')), 5_000).unref();
      });
      expect(new Set((await Promise.race([answers, late])).map(({ status }) => status))).toEqual(new Set([404]));
    } finally {
      await small.close();
    }
  });

  it.each(['%00', 'a%00b', '%EF%BF%BF', 'not-an-id', "' or 1=1", '%F0%9F%98%80'])(
    'is refused for lack of permission regardless of the path: %s',
    async (id) => {
      const requester = await addPerson(api, 'requester');
      const answer = await requester.caller.post(`/runs/${id}/cancel`);
      expect(answer.status, answer.text).toBe(403);
    },
  );
});

describe('a command', () => {
  it('leaves one audit record with actor, credential, action and address', async () => {
    const person = await addPerson(api, 'requester');
    const answer = await person.caller.post('/runs', { template_id: templateId });
    const rows = await select('select * from audit_records where actor_id = ?', person.id);
    expect(rows).toMatchObject([
      {
        actor_type: 'user',
        actor_name: person.email,
        credential_id: person.keyId,
        action: 'run.created',
        resource_type: 'runs',
        resource_id: answer.body.id,
        outcome: 'committed',
        request_id: answer.headers.get('x-request-id'),
        address: '127.0.0.1',
      },
    ]);
    const receipts = await select<{ audit_record_id: string }>(
      'select audit_record_id from command_receipts where key = ?',
      answer.body.idempotency_key,
    );
    expect(receipts).toEqual([{ audit_record_id: (rows[0] as { id: string }).id }]);
  });

  it('is rolled back if its audit record cannot be written', async () => {
    await select(`alter table audit_records add constraint broken check (action <> 'run.created') not valid`);
    try {
      const key = randomUUID();
      const answer = await admit(root.caller, key);
      expect(answer.status).toBe(500);
      expect(answer.headers.get('x-support-id')).toMatch(/\S/);
      expect(answer.text).not.toMatch(/audit_records|broken|constraint/);
      for (const table of ['runs where idempotency_key', 'command_receipts where key', 'outbox where target'])
        expect(await count(`${table} = ?`, key), table).toBe(0);
    } finally {
      await select('alter table audit_records drop constraint broken');
    }
  });

  it('is authorized with the caller’s authority at the commit', async () => {
    const { teamId } = await addTeam(api.orm);
    const { environmentId } = await addEnvironment(api.orm, teamId);
    const person = await addPerson(api, 'requester', { teams: { [teamId]: 'member' } });
    const change = api.orm.em.fork();
    await change.begin();
    await change.execute('select 1 from principals where id = ? for no key update', [person.id]);
    await change.execute('delete from team_members where principal_id = ?', [person.id]);
    const answer = admit(person.caller, randomUUID(), { environment_id: environmentId });
    await awaitLockWaits(api.orm);
    await change.commit();
    expect((await answer).status).toBe(404);
  });

  it('is refused if its caller was disabled while it waited', async () => {
    const person = await addPerson(api, 'requester');
    const change = api.orm.em.fork();
    await change.begin();
    await change.execute('update principals set enabled = false where id = ?', [person.id]);
    const answer = admit(person.caller, randomUUID());
    await awaitLockWaits(api.orm);
    await change.commit();
    expect((await answer).status).toBe(401);
  });

  it('is refused if its credential was revoked while it waited', async () => {
    const person = await addPerson(api, 'requester');
    const change = api.orm.em.fork();
    await change.begin();
    await change.execute('select 1 from principals where id = ? for no key update', [person.id]);
    await change.execute('update api_keys set revoked_at = now() where id = ?', [person.keyId]);
    const answer = admit(person.caller, randomUUID());
    await awaitLockWaits(api.orm);
    await change.commit();
    expect((await answer).status).toBe(401);
  });

  it('is refused if its environment was archived while it waited', async () => {
    const { teamId } = await addTeam(api.orm);
    const { environmentId } = await addEnvironment(api.orm, teamId);
    const change = api.orm.em.fork();
    await change.begin();
    await change.execute('update environments set archived_at = now() where id = ?', [environmentId]);
    const answer = admit(root.caller, randomUUID(), { environment_id: environmentId });
    await awaitLockWaits(api.orm);
    await change.commit();
    expect((await answer).status).toBe(409);
  });

  it('is retried after a deadlock', async () => {
    const { teamId } = await addTeam(api.orm);
    const { environmentId } = await addEnvironment(api.orm, teamId);
    const blocker = api.orm.em.fork();
    await blocker.begin();
    await blocker.execute(`set local deadlock_timeout = '30s'`);
    await blocker.execute('update environments set name = name where id = ?', [environmentId]);
    const answer = admit(root.caller, randomUUID(), { environment_id: environmentId });
    await awaitLockWaits(api.orm);
    // The command has locked its caller's row and waits for the environment's, so each transaction waits for the other.
    await blocker.execute('update principals set name = name where id = ?', [root.id]);
    await blocker.commit();
    const { status, text } = await answer;
    expect(status, text).toBe(202);
  });
});

function startProcess(overrides: Record<string, string> = {}): Promise<ApiProcess> {
  return startApiProcess({
    DATABASE_URL: api.database.url,
    TEMPORAL_ADDRESS: inject('temporalAddress'),
    LOG_LEVEL: 'silent',
    COORDINATOR_PORT: '0',
    COORDINATOR_ADMIN_PORT: '0',
    COORDINATOR_DATA_DIR: api.config.dataDir,
    COORDINATOR_SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    ...overrides,
  });
}
