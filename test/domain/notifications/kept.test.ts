import { afterAll, beforeAll, expect, it } from 'vitest';
import { keptDays } from '#domain/notifications/model.ts';
import { removeOldNotifications } from '#domain/notifications/store.ts';
import { newId } from '#domain/shared/ids.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { docsText } from '#test/support/stated-in-docs.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

it('notifications are kept for 90 days, and the documentation says so', async () => {
  const { id: user } = await api.addUser('requester');
  for (const days of [89, 90, 91]) {
    await api.rows(
      `insert into notifications (id, user_id, kind, subject_kind, subject_id, title, cause, created_at)
       values (?, ?, 'quota.exceeded', 'quota', ?, ?, ?, now() - make_interval(days => ?, mins => 5))`,
      [newId(), user, newId(), `${days} days`, `test ${days}`, days],
    );
  }
  expect(await removeOldNotifications(api.services.orm.em.fork())).toBe(false);
  expect(await api.rows('select title from notifications')).toEqual([{ title: '89 days' }]);
  expect(docsText('notifications')).toContain(`It keeps notifications for ${keptDays} days.`);
});
