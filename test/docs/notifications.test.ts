import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { addPerson } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { blocksOf, runBlocks } from './examples.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

it('the examples of the page about notifications list, count and read them, and set the preferences of a kind', async () => {
  const password = 'correct horse battery';
  const { id, email, caller } = await addPerson(api, 'admin', {}, password);
  await api.orm.em.fork().execute(
    `insert into notifications (id, user_id, kind, subject_kind, subject_id, title, cause, created_at)
     values (?, ?, 'quota.exceeded', 'quota', ?, 'The quota is full', 'test', now())`,
    [newId(), id, newId()],
  );
  const TOKEN = (await caller.post('/auth/sessions', { email, password })).body.token;
  const blocks = blocksOf(api, 'docs/notifications.md', 'notifications');
  const [reading = '', preferences = ''] = await runBlocks(blocks, { TOKEN }, 60_000);
  const [listed = '', counted = '', read = ''] = reading.trim().split('\n');
  expect(JSON.parse(listed).notifications).toMatchObject([{ title: 'The quota is full', state: 'unread' }]);
  expect([JSON.parse(counted), JSON.parse(read)]).toEqual([{ unread: 1 }, { read: 1 }]);
  const [replaced = '', shown = ''] = preferences.trim().split('\n');
  expect(JSON.parse(shown)).toEqual(JSON.parse(replaced));
  const off = JSON.parse(shown).preferences.filter(({ page }: { page: boolean }) => !page);
  expect(off).toMatchObject([{ kind: 'run.finished', email: true }]);
});

it('the examples of the page about channels list the events, create a channel and test it', async () => {
  const password = 'correct horse battery';
  const { email, caller } = await addPerson(api, 'admin', {}, password);
  const TOKEN = (await caller.post('/auth/sessions', { email, password })).body.token;
  const { body: organization } = await caller.post('/organizations', { name: 'Northwind' });
  const blocks = blocksOf(api, 'docs/notifications.md', 'channels');
  const [shown = ''] = await runBlocks(blocks, { TOKEN, ORGANIZATION: organization.id }, 60_000);
  const [events = '', made = '', tried = ''] = shown.trim().split('\n');
  const types = JSON.parse(events).events.map(({ type }: { type: string }) => type);
  expect(types).toContain('run.approval_required');
  expect(JSON.parse(made)).toMatchObject({
    kind: 'email',
    config: { recipients: ['on-call@example.com'], host: null },
    secret: null,
  });
  const problem = 'this installation sends no e-mail: an operator can set COORDINATOR_SMTP_URL';
  expect(JSON.parse(tried)).toEqual({ ok: false, results: [{ recipient: 'on-call@example.com', problem }] });
});
