import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runApi } from '#api/main.ts';
import { addPerson, addServiceAccount, type Person, publish, sayHello } from '#test/support/access/people.ts';
import { Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { awaitLockWaits } from '#test/support/database/lock-waits.ts';
import { startProxy, type TcpProxy } from '#test/support/tcp-proxy.ts';

let api: TestApi;
let owner: Person;
beforeAll(async () => {
  api = await startApi();
  owner = await addPerson(api, 'maintainer', {}, 'correct horse battery');
});
afterAll(() => api?.close());

const withKey = (key: string) => ({ 'idempotency-key': key });
const outcome = (caller: Caller, key: string) => caller.get('/commands/outcome', withKey(key));
const remove = (caller: Caller, path: string, key: string) => caller.send('DELETE', path, undefined, withKey(key));
const execute = <Row extends object>(sql: string, ...params: unknown[]) =>
  api.orm.em.fork().execute<Row[]>(sql, params);
const notObserved = { status: 200, body: { kind: 'not_observed' } };

async function makeOrganization(): Promise<{ id: string; path: string; teamPath: string }> {
  const { body: organization } = await owner.caller.post('/organizations', { name: `Organization ${randomUUID()}` });
  const path = `/organizations/${organization.id}`;
  const { body: team } = await owner.caller.post(`${path}/teams`, { name: 'Core' });
  return { id: organization.id, path, teamPath: `${path}/teams/${team.id}` };
}

describe('the outcome of a command', () => {
  it('is its receipt, without the resource itself', async () => {
    const { id, path, teamPath } = await makeOrganization();
    await remove(owner.caller, teamPath, randomUUID());
    const key = randomUUID();
    expect(await outcome(owner.caller, key)).toMatchObject(notObserved);
    expect((await remove(owner.caller, path, key)).status).toBe(204);
    const answer = await outcome(owner.caller, key);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toEqual({
      kind: 'committed',
      receipt: {
        key,
        operation: 'organizations.delete',
        status: 204,
        resource_id: id,
        location: null,
        revision: 2,
        audit_record_id: expect.any(String),
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    });
    const [record] = await execute(
      'select action, resource_id from audit_records where id = ?',
      answer.body.receipt.audit_record_id,
    );
    expect(record).toEqual({ action: 'organization.deleted', resource_id: id });
  });

  it('is never cacheable', async () => {
    const { teamPath } = await makeOrganization();
    const key = randomUUID();
    for (const answer of [await outcome(owner.caller, key), await outcome(owner.caller, 'no key')])
      expect(answer.headers.get('cache-control')).toBe('no-store');
    await remove(owner.caller, teamPath, key);
    expect((await outcome(owner.caller, key)).headers.get('cache-control')).toBe('no-store');
  });

  it('exists for accepted asynchronous work, with the location of the result', async () => {
    const root = await addPerson(api, 'admin');
    const template = await publish(root.caller, sayHello);
    const key = randomUUID();
    const { body: run } = await root.caller.post('/runs', { template_id: template }, withKey(key));
    expect((await outcome(root.caller, key)).body).toMatchObject({
      kind: 'committed',
      receipt: { operation: 'runs.create', status: 202, resource_id: run.id, location: `/api/v1/runs/${run.id}` },
    });
  });

  it.each([
    ['no key', []],
    ['an empty key', ['']],
    ['an uppercase key', [randomUUID().toUpperCase()]],
    ['the name of a CI job', ['build-77']],
    ['the zero UUID', ['00000000-0000-0000-0000-000000000000']],
    ['two keys', [randomUUID(), randomUUID()]],
    ['the same key twice', ((key) => [key, key])(randomUUID())],
    ['two keys in one header', [`${randomUUID()}, ${randomUUID()}`]],
  ])('requires exactly one canonical key: %s is rejected', async (_name, keys) => {
    expect(await askRaw(keys)).toBe(400);
  });

  it('the outcome of a refused command is not_observed, because a refusal does not bind its key', async () => {
    const { path } = await makeOrganization();
    const key = randomUUID();
    expect((await remove(owner.caller, path, key)).status).toBe(409);
    expect(await outcome(owner.caller, key)).toMatchObject(notObserved);
  });

  it('the outcome of a command that has not committed yet is not_observed', async () => {
    const { path, teamPath } = await makeOrganization();
    await remove(owner.caller, teamPath, randomUUID());
    const blocker = api.orm.em.fork();
    await blocker.begin();
    await blocker.execute('select 1 from organizations where id = ? for share', [path.split('/')[2]]);
    const key = randomUUID();
    const removed = remove(owner.caller, path, key);
    await awaitLockWaits(api.orm);
    expect(await outcome(owner.caller, key)).toMatchObject(notObserved);
    await blocker.commit();
    expect((await removed).status).toBe(204);
    expect((await outcome(owner.caller, key)).body.kind).toBe('committed');
  });

  function askRaw(keys: string[]): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      const headers = { 'x-api-key': owner.key, ...(keys.length > 0 && { 'idempotency-key': keys }) };
      const sent = request(`${api.url}/api/v1/commands/outcome`, { headers });
      sent.on('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('error', reject);
      sent.end();
    });
  }
});

describe('the outcome of a command', () => {
  it('is shown to its caller with any valid credential, and with no invalid one', async () => {
    const person = await addPerson(api, 'maintainer', {}, 'correct horse battery');
    const session = await Caller.signIn(api.url, person.email, 'correct horse battery');
    const { body: organization } = await person.caller.post('/organizations', { name: `Own ${randomUUID()}` });
    const key = randomUUID();
    await remove(person.caller, `/organizations/${organization.id}`, key);
    expect((await outcome(session, key)).body.kind).toBe('committed');
    await execute('update api_keys set revoked_at = now() where id = ?', person.keyId);
    expect((await outcome(person.caller, key)).status).toBe(401);
    expect((await outcome(session, key)).body.kind).toBe('committed');
    await execute('update principals set enabled = false where id = ?', person.id);
    expect((await outcome(session, key)).status).toBe(401);
  });

  it('looks to other callers like the outcome of an unused key', async () => {
    const { teamPath } = await makeOrganization();
    const key = randomUUID();
    await remove(owner.caller, teamPath, key);
    const others = [
      await addPerson(api, 'admin'),
      await addPerson(api, 'requester'),
      await addServiceAccount(api, 'admin'),
    ];
    for (const other of others) {
      const answer = await outcome(other.caller, key);
      expect([answer.status, answer.text]).toEqual([200, (await outcome(other.caller, randomUUID())).text]);
      expect(answer.headers.get('idempotency-key')).toBeNull();
    }
    expect((await outcome(new Caller(api.url, {}), key)).status).toBe(401);
  });

  it('is shown to its caller even after they left the team, and after team and organization were deleted', async () => {
    const { id, path, teamPath } = await makeOrganization();
    const member = await addPerson(api, 'maintainer', { organizations: { [id]: 'owner' } });
    const key = randomUUID();
    expect((await remove(member.caller, teamPath, key)).status).toBe(204);
    await owner.caller.send('DELETE', `${path}/members/${member.id}`);
    expect((await member.caller.get(path)).status).toBe(404);
    expect((await outcome(member.caller, key)).body).toMatchObject({ kind: 'committed', receipt: { status: 204 } });
    await remove(owner.caller, path, randomUUID());
    expect((await outcome(member.caller, key)).body).toMatchObject({ kind: 'committed' });
  });

  it('gives its caller access to nothing else', async () => {
    const { id, path, teamPath } = await makeOrganization();
    const member = await addPerson(api, 'maintainer', { organizations: { [id]: 'owner' } });
    const key = randomUUID();
    await remove(member.caller, teamPath, key);
    await owner.caller.send('DELETE', `${path}/members/${member.id}`);
    expect((await member.caller.get(path)).status).toBe(404);
    expect((await remove(member.caller, path, randomUUID())).status).toBe(404);
  });
});

describe('a deletion whose connection is cut at its commit', () => {
  let proxy: TcpProxy;
  let remote: Awaited<ReturnType<typeof runApi>>;
  let caller: Caller;
  const isCommit = (data: Buffer) => /commit\0/i.test(data.toString('latin1'));
  beforeAll(async () => {
    const url = new URL(api.database.url);
    proxy = await startProxy({ host: url.hostname, port: Number(url.port) });
    url.host = `127.0.0.1:${proxy.port}`;
    remote = await runApi({ ...api.config, databaseUrl: url.href, databasePoolSize: 4 });
    caller = new Caller(remote.url, { 'x-api-key': owner.key });
  });
  afterEach(() => proxy.watch(null));
  afterAll(async () => {
    await remote?.close();
    await proxy?.close();
  });

  it('answers 503 with an unknown outcome, and the outcome is committed if the commit arrived', async () => {
    const { teamPath } = await makeOrganization();
    const key = randomUUID();
    proxy.watch((data) => (isCommit(data) ? 'cut after' : 'pass'));
    expectUnknown(await remove(caller, teamPath, key), key);
    proxy.watch(null);
    await expect.poll(async () => (await outcome(caller, key)).body.kind).toBe('committed');
    expect((await caller.get(teamPath)).status).toBe(404);
    expect((await remove(caller, teamPath, key)).status).toBe(204);
  });

  it('answers 503 with an unknown outcome, and the outcome is not_observed if the commit never arrived', async () => {
    const { teamPath } = await makeOrganization();
    const key = randomUUID();
    proxy.watch((data) => (isCommit(data) ? 'cut before' : 'pass'));
    expectUnknown(await remove(caller, teamPath, key), key);
    proxy.watch(null);
    expect(await outcome(caller, key)).toMatchObject(notObserved);
    expect((await caller.get(teamPath)).status).toBe(200);
    expect((await remove(caller, teamPath, key)).status).toBe(204);
    expect((await outcome(caller, key)).body.kind).toBe('committed');
  });

  function expectUnknown(answer: Awaited<ReturnType<typeof remove>>, key: string): void {
    expect(answer.status, answer.text).toBe(503);
    expect(answer.body).toEqual({ outcome: 'unknown', error: expect.stringMatching(/outcome is unknown/) });
    expect(answer.headers.get('idempotency-key')).toBe(key);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  }
});

describe('the OpenAPI document', () => {
  it('declares the idempotency key as required or optional', async () => {
    const document = (await (await fetch(`${api.url}/api/v1/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { parameters?: { name: string; in: string; required?: boolean }[] }>>;
    };
    const keyOf = (path: string, method: string) =>
      document.paths[path]?.[method]?.parameters?.find(({ name }) => name === 'Idempotency-Key');
    const demanded: [string, string][] = [
      ['/api/v1/commands/outcome', 'get'],
      ['/api/v1/organizations/{orgID}', 'delete'],
      ['/api/v1/organizations/{orgID}/teams/{id}', 'delete'],
      ['/api/v1/projects/{id}', 'delete'],
      ['/api/v1/environments/{id}', 'delete'],
    ];
    for (const [path, method] of demanded) expect(keyOf(path, method)).toMatchObject({ in: 'header', required: true });
    expect(keyOf('/api/v1/runs', 'post')).toMatchObject({ in: 'header', required: false });
    expect(keyOf('/api/v1/projects', 'post')).toBeUndefined();
  });
});
