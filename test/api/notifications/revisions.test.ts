import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { disableWebhook } from '#domain/webhooks/disabling.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { NotifiedTeam } from '#test/support/notifications/notified-team.ts';

/** The revisions of notifications, and the names of threads. */
let api: TestApi;
let team: NotifiedTeam;
let reviewer: ApiUser;

beforeAll(async () => {
  api = await startApi({ COORDINATOR_OUTBOUND_ALLOW: '127.0.0.1' });
  team = await NotifiedTeam.start(api);
  ({ reviewer } = team);
});
afterAll(() => api?.close());
beforeEach(() => team.forget());

async function addOne(): Promise<string> {
  await team.addAsked(reviewer);
  const [{ id }] = (await reviewer.get('/notifications')).body.notifications;
  return `/notifications/${id}`;
}

const post = (path: string, tag: string) => reviewer.send('POST', path, undefined, { 'if-match': tag });

describe('a notification', () => {
  it('has its revision as entity tag, and the actions that its user may take', async () => {
    const { body, headers } = await reviewer.get(await addOne());
    expect([body.revision, headers['etag']]).toEqual([1, '"1"']);
    expect(body.actions).toEqual(
      ['read', 'archive', 'unarchive'].map((name) => ({ name, allowed: true, reason: null })),
    );
  });

  it('is marked only if it still has the revision in If-Match', async () => {
    const path = await addOne();
    const first = await post(`${path}/read`, '"1"');
    expect([first.status, first.headers['etag'], first.body.state]).toEqual([200, '"2"', 'read']);
    const stale = await post(`${path}/archive`, '"1"');
    expect([stale.status, stale.headers['x-error-code']]).toEqual([409, 'stale_revision']);
    expect((await reviewer.get(path)).body).toMatchObject({ state: 'read', revision: 2 });
  });

  it('keeps its revision if a mark changes nothing', async () => {
    const path = await addOne();
    const revisions = [];
    for (const mark of ['unarchive', 'read', 'read', 'archive', 'archive', 'read', 'unarchive', 'unarchive'])
      revisions.push((await reviewer.post(`${path}/${mark}`)).body.revision);
    expect(revisions).toEqual([1, 2, 2, 3, 3, 3, 4, 4]);
  });

  it('gets another revision when its thread or everything is marked, or its run needs no review any more', async () => {
    const paths = [await addOne(), await addOne(), await addOne()];
    const [ofThread, settled] = await Promise.all(
      paths.map(async (path) => (await reviewer.get(path)).body.subject.id),
    );
    await reviewer.post(`/notifications/threads/${ofThread}/read`);
    const data = { code: 'locked', reason: 'a test', until: null } as const;
    await team.publish({ type: 'run.held', subjectId: settled, owners: { teamId: team.runs.tenant.team }, data });
    await reviewer.post('/notifications/read-all');
    for (const path of paths) expect((await reviewer.get(path)).body).toMatchObject({ state: 'read', revision: 2 });
  });
});

describe('a thread of notifications', () => {
  it('has the present name of its subject', async () => {
    const { owner, team: teamId } = team.runs.tenant;
    const wanted = { name: 'Chat', url: 'http://127.0.0.1:9/', events: ['*'], team_id: teamId };
    const { id } = await owner.make('/admin/webhooks', wanted);
    const { transactions, installation } = api.services;
    await disableWebhook({ transactions, bindingKey: installation.bindingKey }, id, 'gone');
    await team.notify();
    await owner.patch(`/admin/webhooks/${id}`, { name: 'Chat of Payments' });
    expect((await owner.get(`/notifications/threads/${id}`)).body.subject_name).toBe('Webhook Chat of Payments');
    const visitor = await signInVisitor(api, owner);
    const page = await visitor.get(`/notifications/threads/${id}`);
    expect(page.text).toContain('<h1>Webhook Chat of Payments</h1>');
    expect(page.text).toContain('The service disabled the webhook Chat');
  });

  it('has the name of the run that it is about', async () => {
    const path = await addOne();
    const { subject } = (await reviewer.get(path)).body;
    const { subject_name: name } = (await reviewer.get(`/notifications/threads/${subject.id}`)).body;
    expect(name).toMatch(/^Run of net-\d+ in .+ \/ .+$/);
  });
});
