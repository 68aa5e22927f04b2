import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

test('a method that only a more general path has answers 405 on a more specific path', async () => {
  const admin = await api.addUser('admin');
  for (const path of ['/runs/statistics', '/audit/actions', '/audit/export']) {
    const answer = await admin.send('DELETE', path, undefined, { 'content-type': 'application/json' });
    expect([path, answer.status, answer.headers['allow']]).toEqual([path, 405, 'GET, HEAD']);
    expect(answer.headers['x-error-code']).toBe('method_not_allowed');
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
  }
  const options = await api.app.inject({ method: 'OPTIONS', url: '/api/v1/runs/statistics?limit=1' });
  expect([options.statusCode, options.headers['allow']]).toEqual([405, 'GET, HEAD']);
  const run = await api.app.inject({ method: 'OPTIONS', url: '/api/v1/runs/0' });
  expect(run.headers['allow']).toBe('DELETE, GET, HEAD');
  const check = `/api/v1/registry/templates/${randomUUID()}/versions/check`;
  const checked = await api.app.inject({ method: 'OPTIONS', url: check });
  expect([checked.statusCode, checked.headers['allow']]).toEqual([405, 'POST']);
});
