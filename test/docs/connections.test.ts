import { afterAll, beforeAll, expect, it } from 'vitest';
import { addPerson } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { followPage } from './examples.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

it('the example of the page about connections creates one, binds, reads, rotates and deletes it', async () => {
  const { caller: administrator } = await addPerson(api, 'admin');
  const [created = '', bound = '', changed = ''] = await followPage(
    { url: api.url, administrator },
    'docs/connections.md',
    60_000,
  );
  expect(created).toContain('"provides":["MONITORING_KEY","MONITORING_TOKEN"]');
  expect(bound).toContain('"monitoring":{"connection_id":');
  expect(bound).toContain('"phases":["apply"]');
  expect(bound).toContain('"ok":true');
  expect(changed).toContain('"credential_revision":2');
});
