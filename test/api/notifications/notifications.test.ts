import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { operations } from '#api/operations.ts';
import type { SubjectKind } from '#domain/news/model.ts';
import { kindsOfSubjects } from '#domain/news/subject-kinds.ts';
import { notifyOfEvents } from '#domain/notifications/creation/follow.ts';
import { removeOldNotifications } from '#domain/notifications/store.ts';
import { join, type Tenant } from '#test/support/access/tenancy.ts';
import { ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { NotifiedTeam, titlesOf } from '#test/support/notifications/notified-team.ts';

let api: TestApi;
let team: NotifiedTeam;
let tenant: Tenant;
let admin: ApiUser;
let reviewer: ApiUser;
let second: ApiUser;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  admin = await api.addUser('admin');
  team = await NotifiedTeam.start(api);
  ({ reviewer, second } = team);
  ({ tenant } = team.runs);
});
afterAll(() => api?.close());
beforeEach(() => team.forget());

const unreadOf = async (user: ApiUser) => (await user.get('/notifications/unread')).body.unread;

describe('a notification about a run', () => {
  it('is created for the reviewers who were asked, and for nobody else', async () => {
    const run = await team.addAsked(reviewer);
    const { body } = await reviewer.get('/notifications');
    expect(body.notifications).toMatchObject([
      { kind: 'run.approval_requested', state: 'unread', subject: { kind: 'run', id: run }, read_at: null },
    ]);
    expect(body.notifications[0].title).toMatch(/^Aki Asker asks you to review the apply run of net-\d+ in .+ \/ .+$/);
    for (const other of [second, team.runs.asker, admin, tenant.owner]) expect(await titlesOf(other)).toEqual([]);
  });

  it('a request for a review that names nobody notifies everybody who may review the run, and nobody else', async () => {
    await team.addAsked();
    const asksYou = /^Aki Asker asks you to review the apply run of net-/;
    for (const able of [reviewer, second]) expect(await titlesOf(able)).toEqual([expect.stringMatching(asksYou)]);
    for (const other of [team.runs.asker, admin]) expect(await titlesOf(other)).toEqual([]);
  });

  it('a request for a review notifies once a day for each user who asks, and once for all service accounts', async () => {
    const run = await team.addAsked(reviewer);
    await team.ask(run, reviewer);
    await team.ask(run);
    const ask = (by: ApiUser) => by.post(`/runs/${run}/approval/request`, {});
    expect((await ask(tenant.owner)).status).toBe(202);
    for (const name of ['One bot', 'Other bot']) {
      const account = await tenant.owner.make('/service-accounts', {
        name,
        role: 'requester',
        owner: { team_id: tenant.team },
      });
      const { body } = await tenant.owner.post(`/service-accounts/${account.id}/api-keys`, { name: 'ci' });
      const bot = new ApiUser(api, { 'x-api-key': body.key }, { id: account.id, email: '' });
      expect((await ask(bot)).status).toBe(202);
    }
    await team.notify();
    const askedBy = async (user: ApiUser) => (await titlesOf(user)).map((title) => title.split(' asks')[0]);
    const [owner] = await api.rows<{ name: string }>('select name from principals where id = ?', [tenant.owner.id]);
    expect(await askedBy(reviewer)).toEqual(['One bot', owner?.name, 'Aki Asker']);
    expect(await askedBy(second)).toEqual(['One bot', owner?.name, 'Aki Asker']);
    await api.rows(
      "update notifications set cause = replace(cause, to_char(now() at time zone 'utc', 'YYYY-MM-DD'), 'yesterday')",
    );
    await team.ask(run, reviewer);
    await team.notify();
    expect(await askedBy(reviewer)).toEqual(['Aki Asker', 'One bot', owner?.name, 'Aki Asker']);
  });

  it('the notification of a request is marked as read for a reviewer who has decided, and for all once the run no longer waits', async () => {
    const run = await team.addAsked(reviewer, second);
    const { plan } = (await reviewer.get(`/runs/${run}`)).body;
    const review = { decision: 'reject', comment: 'not now', plan_digest: plan.digest };
    expect((await reviewer.post(`/runs/${run}/approval/review`, review)).status).toBeLessThan(300);
    expect([await unreadOf(reviewer), await unreadOf(second)]).toEqual([1, 1]);
    await team.notify();
    expect([await unreadOf(reviewer), await unreadOf(second)]).toEqual([0, 0]);
    const rejected = /^Rita Reviewer rejected the plan of the apply run of net-/;
    expect(await titlesOf(team.runs.asker)).toEqual([expect.stringMatching(rejected)]);
    expect((await second.get('/notifications')).body.notifications[0].state).toBe('read');
  });

  it('the end of a run notifies its requester, and nobody else', async () => {
    const { runId, attemptId } = await team.runs.begin();
    await team.runs.failPlan({ runId, attemptId });
    await team.notify();
    expect(await titlesOf(team.runs.asker)).toEqual([
      expect.stringMatching(/^The apply run of net-\d+ in .+ \/ .+ failed$/),
    ]);
    expect(await titlesOf(reviewer)).toEqual([]);
  });

  it('is created once, even if several workers read events at the same time', async () => {
    const run = await team.runs.add([]);
    await team.ask(run, reviewer);
    const read = await Promise.all(
      [1, 2, 3].map(() => notifyOfEvents(api.services.orm, async () => new Set(), api.services.log)),
    );
    await team.notify();
    expect(read.filter((count) => count === null).length).toBeLessThan(3);
    expect(await titlesOf(reviewer)).toHaveLength(1);
  });

  it('is created even if a worker was stopped while it created it', async () => {
    const run = await team.runs.add([]);
    await team.ask(run, reviewer);
    await api.rows(
      `create function fail() returns trigger language plpgsql as $$ begin raise 'stopped' using errcode = '57014'; end $$`,
    );
    await api.rows('create trigger fails before insert on notifications execute function fail()');
    await expect(notifyOfEvents(api.services.orm, async () => new Set(), api.services.log)).rejects.toThrow('stopped');
    await api.rows('drop trigger fails on notifications');
    expect(await titlesOf(reviewer)).toEqual([]);
    await team.notify();
    expect(await titlesOf(reviewer)).toHaveLength(1);
  });

  it('is created even if another event fails, which is logged and skipped', async () => {
    const broken = await team.runs.add([]);
    await team.ask(broken, reviewer);
    await api.rows(`alter table notifications add constraint broken check (subject_id <> '${broken}')`);
    const run = await team.runs.add([]);
    await team.ask(run, reviewer);
    const errors: unknown[] = [];
    const log = { error: (...entry: unknown[]) => void errors.push(entry) };
    expect(await notifyOfEvents(api.services.orm, async () => new Set(), log)).toBeGreaterThan(0);
    await api.rows('alter table notifications drop constraint broken');
    expect(errors).toEqual([
      [
        expect.objectContaining({ event_type: 'run.approval_requested' }),
        'could not create the notifications of an event; the event is skipped',
      ],
    ]);
    expect(await titlesOf(reviewer)).toHaveLength(1);
  });
});

describe('a user with notifications', () => {
  it('can mark them as read, archive them, and mark all as read', async () => {
    await team.addAsked(reviewer);
    await team.addAsked(reviewer);
    await team.addAsked(reviewer);
    const [{ id }, { id: other }] = (await reviewer.get('/notifications')).body.notifications;
    expect(await reviewer.post(`/notifications/${id}/read`)).toMatchObject({ status: 200, body: { state: 'read' } });
    expect(await unreadOf(reviewer)).toBe(2);
    expect(await titlesOf(reviewer, '?unread=true')).toHaveLength(2);
    expect(await titlesOf(reviewer, '?unread=false')).toHaveLength(1);
    const threads = async (query: string) => (await reviewer.get(`/notifications/threads${query}`)).body.threads.length;
    expect([await threads('?unread=true'), await threads('?unread=false'), await threads('')]).toEqual([2, 1, 3]);
    expect((await reviewer.post(`/notifications/${other}/archive`)).body.state).toBe('archived');
    expect(await titlesOf(reviewer)).toHaveLength(2);
    expect(await titlesOf(reviewer, '?archived=true')).toHaveLength(1);
    const back = await reviewer.post(`/notifications/${other}/unarchive`);
    expect(back).toMatchObject({ status: 200, body: { state: 'read' } });
    expect(await titlesOf(reviewer, '?archived=true')).toEqual([]);
    await reviewer.post(`/notifications/${other}/archive`);
    expect(await titlesOf(reviewer, '?kind=run.finished')).toEqual([]);
    expect((await reviewer.post('/notifications/read-all')).body).toEqual({ read: 1 });
    expect(await unreadOf(reviewer)).toBe(0);
  });

  it('keeps the time at which one was first marked as read', async () => {
    await team.addAsked(reviewer);
    const [{ id }] = (await reviewer.get('/notifications')).body.notifications;
    const first = (await reviewer.post(`/notifications/${id}/read`)).body.read_at;
    expect((await reviewer.post(`/notifications/${id}/read`)).body.read_at).toBe(first);
  });

  it('sees the notifications of a subject as one thread with its newest notification', async () => {
    const run = await team.addAsked(reviewer);
    const asked = await tenant.owner.post(`/runs/${run}/approval/request`, { reviewers: [reviewer.id] });
    expect(asked.status, asked.text).toBe(202);
    await team.addAsked(reviewer);
    const { threads } = (await reviewer.get('/notifications/threads')).body;
    expect(threads).toMatchObject([{ count: 1 }, { id: run, count: 2, unread: 2, subject: { kind: 'run', id: run } }]);
    const { notifications } = (await reviewer.get(`/notifications/threads/${run}`)).body;
    expect(notifications).toHaveLength(2);
    expect(threads[1].latest.id).toBe(notifications[0].id);
    const page = (await reviewer.get('/notifications/threads?limit=1')).body;
    const next = (await reviewer.get(`/notifications/threads?limit=1&cursor=${page.next_cursor}`)).body;
    expect(next.threads.map((each: { id: string }) => each.id)).toEqual([run]);
  });

  it('can mark and archive a whole thread, which starts again with the next notification', async () => {
    const run = await team.addAsked(reviewer);
    const ask = async (by: ApiUser) => {
      const { status, text } = await by.post(`/runs/${run}/approval/request`, { reviewers: [reviewer.id] });
      expect(status, text).toBe(202);
      await team.notify();
    };
    await ask(tenant.owner);
    await team.addAsked(reviewer);
    const thread = `/notifications/threads/${run}`;
    expect(await reviewer.post(`${thread}/read`)).toMatchObject({ status: 200, body: { read: 2 } });
    expect((await reviewer.post(`${thread}/read`)).body).toEqual({ read: 0 });
    expect(await unreadOf(reviewer)).toBe(1);
    expect((await reviewer.post(`${thread}/archive`)).body).toEqual({ archived: 2 });
    expect((await reviewer.post(`${thread}/archive`)).body).toEqual({ archived: 0 });
    expect(await titlesOf(reviewer)).toHaveLength(1);
    expect((await reviewer.get('/notifications/threads')).body.threads).toHaveLength(1);
    await ask(second);
    expect((await reviewer.get('/notifications/threads')).body.threads).toMatchObject([
      { id: run, count: 1, unread: 1 },
      {},
    ]);
  });

  it('gets 404 for a thread of other users', async () => {
    const run = await team.addAsked(reviewer);
    for (const stranger of [second, admin]) {
      for (const path of [`/notifications/threads/${run}/read`, `/notifications/threads/${run}/archive`])
        expect(await stranger.post(path)).toMatchObject({ status: 404 });
    }
    expect(await unreadOf(reviewer)).toBe(1);
  });

  it('cannot read or change notifications of other users', async () => {
    await team.addAsked(reviewer);
    const [{ id, subject }] = (await reviewer.get('/notifications')).body.notifications;
    for (const stranger of [second, admin]) {
      expect(await stranger.get(`/notifications/${id}`)).toMatchObject({ status: 404 });
      expect(await stranger.post(`/notifications/${id}/read`)).toMatchObject({ status: 404 });
      expect(await stranger.post(`/notifications/${id}/archive`)).toMatchObject({ status: 404 });
      expect(await stranger.get(`/notifications/threads/${subject.id}`)).toMatchObject({ status: 404 });
      await stranger.post('/notifications/read-all');
    }
    expect(await unreadOf(reviewer)).toBe(1);
  });

  it('a user who leaves the team sees and gets no notifications about it any more', async () => {
    const user = await api.addUser('operator');
    await join(tenant, user, 'member', 'admin');
    const run = await team.addAsked(user);
    const [{ id }] = (await user.get('/notifications')).body.notifications;
    await team.ask(run, user);
    expect((await tenant.owner.delete(`${tenant.teamPath}/members/${user.id}`)).status).toBe(204);
    await team.notify();
    expect(await api.rows('select count(*)::int as count from notifications where user_id = ?', [user.id])).toEqual([
      { count: 1 },
    ]);
    expect(await titlesOf(user)).toEqual([]);
    expect(await unreadOf(user)).toBe(0);
    expect((await user.get('/notifications/threads')).body.threads).toEqual([]);
    expect(await user.get(`/notifications/threads/${run}`)).toMatchObject({ status: 404 });
    expect(await user.get(`/notifications/${id}`)).toMatchObject({ status: 404 });
    expect(await user.post(`/notifications/${id}/read`)).toMatchObject({ status: 404 });
  });

  it('gets none of a kind that is turned off, until it is on again', async () => {
    const off = { preferences: [{ kind: 'run.approval_requested', page: false }] };
    const answer = await reviewer.put('/notifications/preferences', off);
    expect(answer.body.preferences).toContainEqual(expect.objectContaining(off.preferences[0]));
    expect(answer.body.preferences.filter(({ page }: { page: boolean }) => page)).toHaveLength(9);
    await team.addAsked(reviewer, second);
    expect([await titlesOf(reviewer), await titlesOf(second)]).toEqual([[], [expect.any(String)]]);
    await reviewer.put('/notifications/preferences', { preferences: [] });
    await team.addAsked(reviewer);
    expect(await titlesOf(reviewer)).toHaveLength(1);
  });

  it('gets an error with the kind that the preferences name twice or that is unknown', async () => {
    const one = { kind: 'run.finished', page: true };
    const twice = await reviewer.put('/notifications/preferences', { preferences: [one, one] });
    expect(twice).toMatchObject({ status: 400, body: { error: expect.stringContaining('expected each kind once') } });
    const unknown = await reviewer.put('/notifications/preferences', { preferences: [{ kind: 'x', page: true }] });
    expect(unknown).toMatchObject({ status: 400, body: { error: expect.stringContaining('preferences[0].kind') } });
  });
});

it('a stale change of preferences is refused', async () => {
  const path = '/notifications/preferences';
  const before = await second.get(path);
  const preferences = [{ kind: 'run.finished', page: false }];
  const put = () => second.send('PUT', path, { preferences }, { 'if-match': String(before.headers['etag']) });
  const changed = await put();
  expect(changed).toMatchObject({ status: 200, body: { revision: before.body.revision + 1 } });
  expect(await put()).toMatchObject({ status: 409, headers: { 'x-error-code': 'stale_revision' } });
  expect((await second.put(path, { preferences })).body.revision).toBe(changed.body.revision);
  await second.put(path, { preferences: [] });
});

it('simultaneous changes of preferences happen one after the other, and the audit has what each replaced', async () => {
  const [{ n: already } = { n: 0 }] = await api.rows<{ n: number }>(
    `select count(*)::int as n from audit_records where action = 'notification_preferences.replaced'`,
  );
  const put = (page: boolean) =>
    reviewer.put('/notifications/preferences', { preferences: [{ kind: 'run.finished', page }] });
  const answers = await Promise.all([true, false, true, false, true, false].map(put));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const records = await api.rows<{ before: object; after: object }>(
    `select before, after from audit_records where action = 'notification_preferences.replaced' order by at, id offset ?`,
    [already],
  );
  const chain = new Map<string, number>();
  for (const { before, after } of records) {
    chain.set(JSON.stringify(after), (chain.get(JSON.stringify(after)) ?? 0) + 1);
    chain.set(JSON.stringify(before), (chain.get(JSON.stringify(before)) ?? 0) - 1);
  }
  // Each record begins where another ended, but for the first beginning and the last end.
  const loose = [...chain.values()].filter((balance) => balance !== 0);
  expect(loose.every((balance) => Math.abs(balance) === 1) && loose.length <= 2).toBe(true);
  await reviewer.put('/notifications/preferences', { preferences: [] });
});

describe('notifications', () => {
  it('are removed after 90 days', async () => {
    await team.addAsked(reviewer);
    await team.addAsked(reviewer);
    const [{ id }] = (await reviewer.get('/notifications')).body.notifications;
    await api.rows(`update notifications set created_at = now() - interval '91 days' where id = ?`, [id]);
    expect(await removeOldNotifications(api.services.orm.em.fork())).toBe(false);
    expect((await reviewer.get('/notifications')).body.notifications).toHaveLength(1);
  });

  it('can be read only by users who may read the subject', () => {
    const reading: Record<SubjectKind, string> = {
      run: 'runs.get',
      assembly_run: 'assemblies.get_run',
      drift_monitor: 'drift_monitors.get',
      drift_finding: 'drift_findings.get',
      webhook: 'webhooks.get',
      instance: 'instances.get',
      quota: 'quotas.get',
      api_key: 'profile.get_api_key',
    };
    for (const [kind, operation] of Object.entries(reading)) {
      const declared = operations.find(({ id }) => id === operation)?.access;
      const { review: _, ...expected } = kindsOfSubjects[kind as SubjectKind].access;
      expect({ kind, ...declared }).toMatchObject({ kind, ...expected });
      expect(declared && 'installation' in declared ? declared.installation : undefined, kind).toBe(
        expected.installation,
      );
    }
  });
});
