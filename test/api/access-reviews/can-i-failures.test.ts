import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runApi } from '#api/main.ts';
import { addEnvironment, addPerson, addTeam } from '#test/support/access/people.ts';
import { type ResourceAttributes, reviewOf } from '#test/support/access/reviews.ts';
import { Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { createTestConfig } from '#test/support/config.ts';
import { startProxy, type TcpProxy } from '#test/support/tcp-proxy.ts';

let api: TestApi;
let proxy: TcpProxy;
let behind: Awaited<ReturnType<typeof runApi>>;
let owner: Caller;
let about: ResourceAttributes;
/** A review whose target takes a statement of its own. */
let aboutOrganization: ResourceAttributes;

beforeAll(async () => {
  api = await startApi();
  const { teamId, organizationId } = await addTeam(api.orm);
  const { projectId } = await addEnvironment(api.orm, teamId);
  const person = await addPerson(api, 'maintainer', { teams: { [teamId]: 'owner' } });
  aboutOrganization = { resource: 'organizations', verb: 'get', name: organizationId };
  about = { resource: 'projects', verb: 'get', name: projectId, team_id: teamId };
  const url = new URL(api.database.url);
  proxy = await startProxy({ host: url.hostname, port: Number(url.port) });
  url.port = String(proxy.port);
  behind = await runApi(createTestConfig(url.href));
  owner = new Caller(behind.url, { 'x-api-key': person.key });
});
afterAll(async () => {
  proxy?.open();
  await behind?.close();
  await proxy?.close();
  await api?.close();
});

const ask = (question = about) => owner.post('/auth/can-i', reviewOf(question));
/** Only new connections send the text of statements. Waits until no request gets a broken connection. */
async function reconnect(): Promise<void> {
  proxy.shut();
  proxy.open();
  for (let tries = 0; tries < 50; tries += 1) if ((await owner.get('/auth/whoami')).status === 200) return;
  throw new Error('the API does not connect to its database again');
}

async function whileAnotherConnectionRuns<T>(statements: string[], work: () => Promise<T>): Promise<T> {
  const client = new pg.Client(api.database.url);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
    return await work();
  } finally {
    await client.query('rollback');
    await client.end();
  }
}

const indeterminate = (code: string) => ({
  status: 200,
  body: { status: { allowed: false, denied: false, evaluation_error: { code, message: expect.any(String) } } },
});

describe('an access review', () => {
  it('is undecided if the database becomes unreachable while its target is looked up', async () => {
    expect((await ask()).body.status.allowed).toBe(true);
    for (const verdict of ['cut before', 'cut after'] as const) {
      await reconnect();
      proxy.watch((data) => (data.includes('join "projects" as "p"') ? verdict : 'pass'));
      const answer = await ask();
      proxy.watch(null);
      expect(answer).toMatchObject(indeterminate('resolver_unavailable'));
      expect(Object.keys(answer.body.status)).toEqual(['allowed', 'denied', 'evaluation_error']);
    }
    expect((await ask()).body.status.allowed).toBe(true);
  });

  it("is undecided if the database becomes unreachable after its target and before the caller's authority is read, where each takes a statement", async () => {
    for (const verdict of ['cut before', 'cut after'] as const) {
      await reconnect();
      let isFound = false;
      proxy.watch((data) => {
        if (isFound) return verdict;
        isFound = data.includes('"o"."id" as "organizationId"');
        return 'pass';
      });
      const answer = await ask(aboutOrganization);
      expect(isFound).toBe(true);
      proxy.watch(null);
      expect(answer).toMatchObject(indeterminate('authorization_unavailable'));
      expect(Object.keys(answer.body.status)).toEqual(['allowed', 'denied', 'evaluation_error']);
    }
    expect((await ask()).body.status.allowed).toBe(true);
  });

  it('decides by the authority that the caller has when its target is found', async () => {
    const em = api.orm.em.fork();
    const person = await addPerson(api, 'maintainer', { teams: { [about.team_id ?? '']: 'owner' } });
    const leaving = new Caller(behind.url, { 'x-api-key': person.key });
    const answer = await whileAnotherConnectionRuns(
      ['begin', 'lock table projects in access exclusive mode'],
      async () => {
        const asked = leaving.post('/auth/can-i', reviewOf(about));
        const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
        await expect.poll(async () => (await em.execute<object[]>(waiting)).length).toBeGreaterThan(0);
        await em.execute('delete from team_members where principal_id = ?', [person.id]);
        return { asked };
      },
    );
    expect((await answer.asked).body.status).toMatchObject({ reason: { code: 'resource_not_found_or_denied' } });
  });

  it('is undecided if the lookup takes too long', async () => {
    const { pathname } = new URL(api.database.url);
    await api.orm.em.fork().execute(`alter database ${pathname.slice(1)} set statement_timeout = '200ms'`);
    await reconnect();
    const answer = await whileAnotherConnectionRuns(['begin', 'lock table projects in access exclusive mode'], ask);
    expect(answer).toMatchObject(indeterminate('resolver_unavailable'));
  });

  it('is undecided, without details, if the lookup fails unexpectedly', async () => {
    const em = api.orm.em.fork();
    await em.execute('alter table projects rename to projects_elsewhere');
    const answer = await ask();
    await em.execute('alter table projects_elsewhere rename to projects');
    expect(answer).toMatchObject(indeterminate('evaluation_failed'));
    expect(answer.text).not.toMatch(/projects|relation|42P01/);
  });

  it('answers 500 if the caller cannot be authenticated, unlike other operations', async () => {
    proxy.shut();
    const [answer, other] = [await ask(), await owner.get('/auth/whoami')];
    proxy.open();
    expect(answer).toMatchObject({ status: 500, body: { error: expect.stringContaining('try again') } });
    expect(answer.headers.get('x-support-id')).toBeTruthy();
    expect(other.status).toBe(503);
    await reconnect();
    expect((await ask()).body.status.allowed).toBe(true);
  });

  it('answers 401 and not 500 without a credential', async () => {
    proxy.shut();
    const answer = await new Caller(behind.url, {}).post('/auth/can-i', reviewOf(about));
    proxy.open();
    expect(answer.status).toBe(401);
  });
});
