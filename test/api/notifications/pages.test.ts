import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import { NotifiedTeam, titlesOf } from '#test/support/notifications/notified-team.ts';

/** The pages of notifications, without a browser. */
let api: TestApi;
let team: NotifiedTeam;
let reviewer: ApiUser;
let visitor: Awaited<ReturnType<typeof signInVisitor>>;

beforeAll(async () => {
  api = await startApi();
  team = await NotifiedTeam.start(api);
  ({ reviewer } = team);
  visitor = await signInVisitor(api, reviewer);
});
afterAll(() => api?.close());
beforeEach(() => team.forget());

const open = (path: string) => visitor.get(path);
const send = (path: string, fields: Record<string, string> = {}) => visitor.submit(path, { key: newId(), ...fields });

describe('the page of notifications', () => {
  it('lists unread notifications with links to their subjects, and counts them in the bar', async () => {
    const run = await team.addAsked(reviewer);
    const { text, status } = await open('/notifications');
    expect(status).toBe(200);
    expect(text).toContain(`href="/workloads/runs/${run}"`);
    expect(text).toContain('>Mark as read<');
    expect(text).not.toMatch(/>Read( all)?</);
    expect(text).toMatch(/<span>1<\/span><span class="unseen"> unread notification<\/span>/);
  });

  it('marks one as read, archives it, and marks all as read', async () => {
    for (const _ of [1, 2, 3]) await team.addAsked(reviewer);
    const { body } = await reviewer.get('/notifications?unread=true');
    const [first, second] = body.notifications;
    expect((await send(`/notifications/${first.id}/read`)).location).toBe('/notifications?done=read');
    expect(await titlesOf(reviewer, '?unread=true')).toHaveLength(2);
    expect((await send(`/notifications/${second.id}/archive`)).status).toBe(303);
    expect(await titlesOf(reviewer, '?archived=true')).toHaveLength(1);
    expect((await send('/notifications/read-all')).status).toBe(303);
    expect(await titlesOf(reviewer, '?unread=true')).toEqual([]);
    expect((await open('/notifications')).text).toContain('No notifications');
  });

  it('shows several notifications about one run as one row, which links to them and shows how many are unread', async () => {
    const run = await team.addAsked(reviewer);
    await api.rows(
      `insert into notifications (id, user_id, kind, subject_kind, subject_id, title, cause, created_at, read_at)
       select gen_random_uuid(), ?, 'run.finished', 'run', ?, 'An older one ' || n, 'older ' || n, now(), case when n = 1 then now() end
         from generate_series(1, 2) n`,
      [reviewer.id, run],
    );
    await team.addAsked(reviewer);
    const { text } = await open('/notifications');
    expect(text).toContain(`href="/notifications/threads/${run}">3 notifications, 2 unread</a>`);
    const thread = (await open(`/notifications/threads/${run}`)).text;
    expect(thread.match(/>Archive</g), 'a column and three buttons').toHaveLength(4);
    expect(thread).toContain('Archive all');
    expect(thread).toContain('>Mark all as read<');
    const { body } = await reviewer.get('/notifications/threads?unread=true');
    expect(body.threads).toHaveLength(2);
    await send('/notifications/read-all');
    expect((await reviewer.get('/notifications/threads?unread=true')).body.threads).toEqual([]);
    expect((await reviewer.get('/notifications/threads?kind=quota.exceeded')).body.threads).toEqual([]);
    expect((await open('/notifications?show=all')).text).toContain('>3 notifications</a>');
  });

  it('marks and archives everything about one run with one button', async () => {
    const run = await team.addAsked(reviewer);
    expect((await team.second.post(`/runs/${run}/approval/request`, { reviewers: [reviewer.id] })).status).toBe(202);
    await team.notify();
    const list = (await open('/notifications')).text;
    expect(list).toContain(`action="/notifications/threads/${run}/archive"`);
    expect((await send(`/notifications/threads/${run}/read`)).location).toBe('/notifications?done=thread-read');
    expect(await titlesOf(reviewer, '?unread=true')).toEqual([]);
    const { text } = await open(`/notifications/threads/${run}`);
    expect(text).not.toContain(`action="/notifications/threads/${run}/read"`);
    expect((await send(`/notifications/threads/${run}/archive`)).location).toBe('/notifications?done=thread-archived');
    expect(await titlesOf(reviewer)).toEqual([]);
    expect((await open(`/notifications/threads/${run}`)).text).not.toContain('Archive all');
  });

  it('does not mark the notifications of others', async () => {
    await team.addAsked(team.second);
    const { body } = await team.second.get('/notifications');
    const { id } = body.notifications[0];
    expect((await send(`/notifications/${id}/read`)).status).toBe(404);
    expect((await team.second.get(`/notifications/${id}`)).body.state).toBe('unread');
  });

  it('shows a limited and correct number in the bar for many unread ones', async () => {
    const run = await team.addAsked(reviewer);
    await api.rows(
      `insert into notifications (id, user_id, kind, subject_kind, subject_id, title, cause, created_at)
       select gen_random_uuid(), ?, 'run.finished', 'run', ?, 'A run ended', 'many ' || n, now() from generate_series(1, 10000) n`,
      [reviewer.id, run],
    );
    expect((await open('/notifications/preferences')).text).toContain('<span>100+</span>');
  });
});

describe('the form of preferences', () => {
  it('saves the preferences of each kind, and shows them again', async () => {
    const page = await open('/notifications/preferences');
    expect(page.text).toContain('This installation sends no e-mail');
    const saved = await send('/notifications/preferences', {
      'run-finished--shown': 'yes',
      'run-approval_requested--shown': 'yes',
      'run-approval_requested--page': 'yes',
      'run-approval_requested--email': 'yes',
    });
    expect([saved.status, saved.location]).toEqual([303, '/notifications/preferences?done=saved']);
    const { body } = await reviewer.get('/notifications/preferences');
    expect(body.preferences, 'the form did not name it').toContainEqual(
      expect.objectContaining({ kind: 'quota.exceeded', page: true, email: true }),
    );
    expect(body.preferences).toContainEqual(
      expect.objectContaining({ kind: 'run.finished', page: false, email: false, chat: false }),
    );
    expect(body.preferences).toContainEqual(
      expect.objectContaining({ kind: 'run.approval_requested', page: true, email: true, chat: false }),
    );
    const again = (await open('/notifications/preferences')).text;
    expect(again).toMatch(/name="run-approval_requested--page"[^>]*checked/);
    expect(again).not.toMatch(/name="run-approval_requested--chat"[^>]*checked/);
  });

  it('sets a chat, keeps it if nothing is typed, never shows its URL, and removes it', async () => {
    const address = 'https://1.1.1.1/hooks/secret-of-chat';
    const chatOf = async () => (await reviewer.get('/notifications/preferences')).body.chat.host;
    await send('/notifications/preferences', { chat_url: address });
    expect(await chatOf()).toBe('1.1.1.1');
    await send('/notifications/preferences', { chat_url: '' });
    expect(await chatOf()).toBe('1.1.1.1');
    const page = (await open('/notifications/preferences')).text;
    expect([page.includes('1.1.1.1'), page.includes('secret-of-chat')]).toEqual([true, false]);
    const wrong = await send('/notifications/preferences', { chat_url: 'https://10.0.0.1/secret-of-chat' });
    expect([wrong.status, wrong.text.includes('secret-of-chat')]).toEqual([422, false]);
    await api.rows(
      `insert into failing_destinations (destination, problem, failing_since, quiet_until) values (?, 'the address answered 503', now(), now() + interval '9 minutes')`,
      [`user:${reviewer.id}:chat`],
    );
    expect((await reviewer.get('/notifications/preferences')).body.chat.paused_until).not.toBeNull();
    expect(await visitor.page('/notifications/preferences')).toMatch(
      /The address answered 503\.<\/span> The next one is sent after <time/,
    );
    await send('/notifications/preferences', { forget_chat: 'yes' });
    expect(await chatOf()).toBeNull();
  });
});

describe('notifications that administrators have turned off', () => {
  it('are neither shown, counted nor readable, until they are turned on again', async () => {
    const admin = await api.addUser('admin');
    const turn = (notifications: object) => admin.patch('/admin/settings', { features: { notifications } });
    expect((await turn({ enabled: false, reason: 'a test' })).status).toBe(200);
    await team.addAsked(reviewer);
    const refused = await reviewer.get('/notifications');
    expect((await reviewer.get('/notifications/threads')).status).toBe(403);
    const page = await open('/');
    expect([refused.status, refused.headers['x-error-code']]).toEqual([403, 'feature_disabled']);
    expect(page.text).not.toContain('unread notification');
    expect((await turn({ enabled: true })).status).toBe(200);
    expect(await titlesOf(reviewer)).toHaveLength(1);
  });
});
