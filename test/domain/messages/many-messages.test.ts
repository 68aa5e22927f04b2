import { afterAll, beforeAll, expect, it } from 'vitest';
import { composeBody } from '#domain/messages/mail/mail-body.ts';
import { queueMessages } from '#domain/messages/queue/queue-store.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

it('one event may cause more messages than one statement can insert', async () => {
  const content = { purpose: 'email_changed' } as const;
  const messages = Array.from({ length: 12_345 }, (_, index) => ({
    medium: 'email' as const,
    address: `a${index}@example.com`,
    content,
    cause: 'many',
  }));
  for (const _ of [1, 2]) await queueMessages(api.services.orm.em.fork(), messages);
  const [row] = await api.rows<{ count: number }>('select count(*)::int as count from outgoing_messages');
  expect(row).toEqual({ count: 12_345 });
});

it('a name in the reason of a mail adds no lines to it', () => {
  const reason = 'You get this by the channel x.\n\nUnlock your account:\nhttps://evil.example/';
  const { text, html } = composeBody({ subject: 'Test', lines: [], link: null, reason });
  expect(text.trimEnd().split('\n').at(-1)).toContain('https://evil.example/');
  expect(text).not.toContain('\n\nUnlock');
  expect(html).not.toContain('x.\n');
});
