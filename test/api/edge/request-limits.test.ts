import { afterAll, beforeAll, expect, it } from 'vitest';
import { join, makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

/** The limits of requests of a person and of an organization together. */

const perPerson = 20;
let api: TestApi;
beforeAll(async () => {
  api = await startApi({ COORDINATOR_REQUESTS_PER_PRINCIPAL: String(perPerson) });
});
afterAll(() => api?.close());

it('requests that the limit of one person refuses do not count towards the limit of the organization', async () => {
  const tenant = await makeTenant(api);
  const [olga, mia] = [await api.addUser('maintainer'), await api.addUser('maintainer')];
  for (const user of [olga, mia]) await join(tenant, user, 'member');
  let last = await olga.get('/auth/whoami');
  for (let sent = 1; sent < perPerson * 12; sent += 1) last = await olga.get('/auth/whoami');
  expect([last.status, last.headers['ratelimit-limit']]).toEqual([429, String(perPerson)]);
  expect(last.body.error).toMatch(/^too many requests: /);
  expect((await mia.get('/auth/whoami')).status).toBe(200);
});

it('the people of an organization are refused if together they send more than ten times the limit of one person', async () => {
  const tenant = await makeTenant(api);
  const users = await Promise.all(Array.from({ length: 12 }, () => api.addUser('maintainer')));
  for (const user of users) await join(tenant, user, 'member');
  const refused = [];
  for (const user of users) {
    for (let sent = 0; sent < perPerson - 1; sent += 1) refused.push(await user.get('/auth/whoami'));
  }
  const last = refused.filter(({ status }) => status === 429).at(-1);
  expect(last?.body.error).toMatch(/^too many requests of your organization: /);
  expect(last?.headers['ratelimit-limit']).toBe(String(perPerson * 10));
});
