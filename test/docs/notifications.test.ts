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

it('the examples of the page about notifications list, count and read them, and choose how a kind is told', async () => {
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
