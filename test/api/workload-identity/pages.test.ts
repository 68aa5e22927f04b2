import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

const path = '/admin/signing-keys';
let api: TestApi;
beforeAll(async () => {
  api = await startApi({ COORDINATOR_ISSUER: 'https://coordinator.example.com' });
});
afterAll(() => api?.close());

it('the pages of signing keys show the keys and their URL, publish the next one, and withdraw all others', async () => {
  const root = await api.addUser('admin');
  const visitor = await signInVisitor(api, root);
  expect((await visitor.get(path)).text).toContain('No keys yet');
  for (let made = 0; made < 2; made += 1)
    expect((await visitor.submit(`${path}/rotate`, {})).location).toBe(`${path}?done=published`);
  const { signing_keys: keys } = (await root.get(path)).body;
  const { text } = await visitor.get(`${path}?done=published`);
  expect(text).toContain('https://coordinator.example.com/.well-known/openid-configuration');
  for (const shown of [keys[0].key_id, keys[1].key_id, 'Upcoming', 'Signing', 'It signs in an hour.'])
    expect(text).toContain(shown);

  const early = await visitor.submit(`${path}/rotate`, {});
  expect([early.status, early.text]).toEqual([409, expect.stringContaining('A new key is published already')]);
  const withdrawn = await visitor.submit(`${path}/rotate`, { withdraw_others: 'yes' });
  expect(withdrawn.location).toBe(`${path}?done=withdrawn`);
  const left = await visitor.get(path);
  expect(left.text).toContain((await root.get(path)).body.signing_keys[0].key_id);
  for (const { key_id: gone } of keys) expect(left.text).not.toContain(gone);
});

it('a page of signing keys is refused to visitors who are not administrators', async () => {
  const visitor = await signInVisitor(api, await api.addUser('operator'));
  expect((await visitor.get(path)).status).toBe(403);
  expect((await visitor.submit(`${path}/rotate`, {})).status).toBe(403);
});
