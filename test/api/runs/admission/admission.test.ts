import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runApi } from '#api/main.ts';
import { isConnectionError } from '#database/errors.ts';
import { openDatabase } from '#open-database';
import { addEnvironment, addPerson, addTeam, type Person, publish, sayHello } from '#test/support/access/people.ts';
import { Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { within } from '#test/support/slowness.ts';
import { startProxy, type TcpProxy } from '#test/support/tcp-proxy.ts';

let api: TestApi;
let root: Person;
let templateId: string;
beforeAll(async () => {
  api = await startApi();
  root = await addPerson(api, 'admin', {}, 'correct horse battery');
  templateId = await publish(root.caller, sayHello);
});
afterAll(() => api?.close());

const execute = <Row extends object>(sql: string, ...params: unknown[]) =>
  api.orm.em.fork().execute<Row[]>(sql, params);
const admit = (caller: Caller, key: string, body: object = {}) =>
  caller.post('/runs', { template_id: templateId, ...body }, { 'idempotency-key': key });
const outbox = (key: string) =>
  execute<{ payload: { kind: string }; attempts: number }>(
    'select payload, attempts from outbox where target = ? order by id',
    key,
  );

describe('admission while the engine is down', () => {
  let lonely: Awaited<ReturnType<typeof runApi>>;
  let caller: Caller;
  beforeAll(async () => {
    lonely = await runApi({ ...api.config, temporal: { ...api.config.temporal, address: '127.0.0.1:1' } });
    caller = new Caller(lonely.url, { 'x-api-key': root.key });
  });
  afterAll(() => lonely?.close());

  it('answers 202 with a run that waits for the engine, and stores the message for the engine', async () => {
    const key = randomUUID();
    const answer = await admit(caller, key);
    expect(answer.status, answer.text).toBe(202);
    expect(answer.body).toMatchObject({
      status: 'queued',
      phase: 'queued',
      idempotency_key: key,
      started_at: null,
      waiting_on: { code: 'engine', since: expect.any(String), position: null, blocker: null },
    });
    // The process has tried to deliver the message, and given up.
    const read = async () => (await fetch(`${lonely.adminUrl}/readyz/internal`)).json();
    await expect.poll(read).toMatchObject({ figures: { deliveries_under_way: 0 } });
    expect(await outbox(key)).toMatchObject([
      { payload: { kind: 'start', workflow: 'run', input: { run_id: answer.body.id } } },
    ]);
    expect(JSON.stringify(await outbox(key))).not.toMatch(/variables|hello/);
  });

  it('admits 20 runs within four seconds', async () => {
    await within(4_000, () => Promise.all(Array.from({ length: 20 }, () => admit(caller, randomUUID()))));
  });

  it('stores later messages in order: start, then cancel', async () => {
    const key = randomUUID();
    const { body } = await admit(caller, key);
    const canceled = await caller.post(`/runs/${body.id}/cancel`, { reason: 'not needed' });
    expect(canceled.body).toMatchObject({
      status: 'canceling',
      status_reason: 'canceled_by_user',
      cancel_reason: 'not needed',
    });
    expect((await outbox(key)).map(({ payload }) => payload.kind)).toEqual(['start', 'cancel']);
  });

  it('ends a run by force without the engine', async () => {
    const { body } = await admit(caller, randomUUID());
    const forced = await caller.post(`/runs/${body.id}/cancel`, { force: true });
    expect(forced.body).toMatchObject({
      status: 'canceled',
      status_reason: 'forced',
      phase: 'finished',
      waiting_on: null,
    });
    expect(forced.body.finished_at).toMatch(/^\d{4}-/);
  });

  it('answers 503 to the readiness probe and 200 to the health probe', async () => {
    expect((await fetch(`${lonely.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${lonely.url}/health`)).status).toBe(200);
  });
});

describe('while the database is down', () => {
  let proxy: TcpProxy;
  let remote: Awaited<ReturnType<typeof runApi>>;
  let caller: Caller;
  beforeAll(async () => {
    const url = new URL(api.database.url);
    proxy = await startProxy({ host: url.hostname, port: Number(url.port) });
    url.host = `127.0.0.1:${proxy.port}`;
    remote = await runApi({ ...api.config, databaseUrl: url.href, databasePoolSize: 4 });
    caller = new Caller(remote.url, { 'x-api-key': root.key });
  });
  afterEach(() => {
    proxy.watch(null);
    proxy.open();
  });
  afterAll(async () => {
    await remote?.close();
    await proxy?.close();
  });

  it('a request with any credential answers 503 and never 401, because no credential can be checked', async () => {
    const session = await Caller.signIn(remote.url, root.email, 'correct horse battery');
    proxy.shut();
    for (const each of [caller, session, new Caller(remote.url, { 'x-api-key': await strangerKey() })]) {
      const answer = await each.get('/auth/whoami');
      expect(answer.status, answer.text).toBe(503);
      expect(answer.body).toEqual({ error: expect.stringMatching(/unavailable/) });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer.headers.get('x-support-id')).toMatch(/\S/);
    }
    const signIn = await new Caller(remote.url, {}).post('/auth/sessions', { email: root.email, password: 'x' });
    expect(signIn.status).toBe(503);
    const admission = await admit(caller, randomUUID());
    expect(admission.status).toBe(503);
    expect(admission.text).not.toMatch(/ECONN|postgres|127\.0\.0\.1|select/);
    expect((await fetch(`${remote.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${remote.url}/health`)).status).toBe(200);
    expect((await new Caller(remote.url, {}).get('/system/version')).status).toBe(200);
  });

  it('a request with a malformed or missing credential still answers 401', async () => {
    proxy.shut();
    expect((await new Caller(remote.url, { 'x-api-key': 'dc_guess' }).get('/auth/whoami')).status).toBe(401);
    expect((await new Caller(remote.url, {}).get('/auth/whoami')).status).toBe(401);
  });

  it('requests succeed again once the database is reachable, even if many connections broke', async () => {
    for (let round = 0; round < 3; round += 1) {
      proxy.shut();
      const broken = await Promise.all(Array.from({ length: 10 }, () => caller.get('/auth/whoami')));
      expect(new Set(broken.map(({ status }) => status))).toEqual(new Set([503]));
      proxy.open();
      await expect.poll(async () => (await caller.get('/auth/whoami')).status).toBe(200);
    }
    const all = await Promise.all(Array.from({ length: 20 }, () => admit(caller, randomUUID())));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([202]));
  });

  it('requests answer 503 within a time limit if the database accepts connections and never replies', async () => {
    proxy.shut();
    await caller.get('/auth/whoami');
    proxy.mute();
    const answers = await within(15_000, () =>
      Promise.all(Array.from({ length: 6 }, () => caller.get('/auth/whoami'))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  });

  it('a connection that breaks in a transaction is removed from the pool', async () => {
    const { teamId } = await addTeam(api.orm);
    const { environmentId } = await addEnvironment(api.orm, teamId);
    const usedKey = randomUUID();
    await admit(caller, usedKey);
    for (const moment of ['start transaction', 'begin', 'for share', 'commit\0', 'insert into "runs"', 'rollback']) {
      for (let round = 0; round < 5; round += 1) {
        proxy.watch((data) => (data.toString('latin1').includes(moment) ? 'cut before' : 'pass'));
        // A key that is another command's is refused in the transaction, which is then rolled back.
        await admit(
          caller,
          usedKey,
          moment === 'rollback' ? { message: 'another' } : { environment_id: environmentId },
        );
        proxy.watch(null);
      }
      expect((await caller.get('/auth/whoami')).status, moment).toBe(200);
    }
    const all = await Promise.all(Array.from({ length: 8 }, () => admit(caller, randomUUID())));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([202]));
  });

  it('a connection in use that stops replying counts as broken and is removed from the pool', async () => {
    const url = new URL(api.database.url);
    url.host = `127.0.0.1:${proxy.port}`;
    const orm = openDatabase({ databaseUrl: url.href, databasePoolSize: 1, answerWithinMs: 300 });
    try {
      await orm.em.fork().execute('select pg_sleep(0.1)');
      proxy.mute();
      const silent = orm.em.fork().transactional((em) => em.execute('select 1'));
      await expect(silent).rejects.toSatisfy(isConnectionError);
      proxy.open();
      expect(await orm.em.fork().execute('select 1 as one')).toEqual([{ one: 1 }]);
    } finally {
      await orm.close();
    }
  });

  it('the process survives the loss of its database sessions', async () => {
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(Array.from({ length: 4 }, () => caller.get('/auth/whoami')));
      await terminateAll();
      await expect.poll(async () => (await caller.get('/auth/whoami')).status).toBe(200);
    }
  });

  describe('a command whose connection breaks', () => {
    const isCommit = (data: Buffer) => /commit\0/i.test(data.toString('latin1'));

    it('a command whose connection breaks before its commit arrives has an unknown outcome, and can be repeated with its key', async () => {
      const key = randomUUID();
      proxy.watch((data) => (isCommit(data) ? 'cut before' : 'pass'));
      expectUnknown(await admit(caller, key), key);
      proxy.watch(null);
      expect(await execute('select 1 from runs where idempotency_key = ?', key)).toEqual([]);
      const again = await admit(caller, key);
      expect(again.status, again.text).toBe(202);
      expect(await execute('select id from runs where idempotency_key = ?', key)).toEqual([{ id: again.body.id }]);
    });

    it('a command whose connection breaks after its commit was carried out has an unknown outcome, and its repeat answers the result', async () => {
      const key = randomUUID();
      proxy.watch((data) => (isCommit(data) ? 'cut after' : 'pass'));
      expectUnknown(await admit(caller, key), key);
      proxy.watch(null);
      const made = () => execute<{ id: string }>('select id from runs where idempotency_key = ?', key);
      await expect.poll(async () => (await made()).length).toBe(1);
      const again = await admit(caller, key);
      expect([again.status, again.body.id]).toEqual([202, (await made())[0]?.id]);
      expect(await outbox(key)).toMatchObject([{ payload: { kind: 'start' } }]);
    });

    it('a command whose connection breaks before it commits does nothing, and answers 503 without an outcome', async () => {
      const { teamId } = await addTeam(api.orm);
      const { environmentId } = await addEnvironment(api.orm, teamId);
      const blocker = api.orm.em.fork();
      await blocker.begin();
      await blocker.execute('update environments set name = name where id = ?', [environmentId]);
      const key = randomUUID();
      const answer = admit(caller, key, { environment_id: environmentId });
      const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(async () => (await execute(waiting)).length).toBeGreaterThan(0);
      await execute(`select pg_terminate_backend(w.pid) from (${waiting}) w`);
      await blocker.rollback();
      const { status, body } = await answer;
      expect(status).toBe(503);
      expect(body).toEqual({ error: expect.any(String) });
      expect(await execute('select 1 from command_receipts where key = ?', key)).toEqual([]);
      expect((await admit(caller, key, { environment_id: environmentId })).status).toBe(202);
    });

    function expectUnknown(answer: Awaited<ReturnType<typeof admit>>, key: string): void {
      expect(answer.status, answer.text).toBe(503);
      expect(answer.body).toEqual({ outcome: 'unknown', error: expect.stringMatching(/outcome is unknown/) });
      expect(answer.headers.get('idempotency-key')).toBe(key);
      expect(answer.headers.get('location')).toBeNull();
    }
  });

  async function strangerKey(): Promise<string> {
    return (await addPerson(api, 'requester')).key;
  }

  async function terminateAll(): Promise<void> {
    await execute(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and application_name = 'delivery-coordinator' and state = 'idle'`,
    );
  }
});
