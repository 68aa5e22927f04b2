import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let busy: Tenant;
let other: Tenant;
beforeAll(async () => {
  api = await startApi();
  [busy, other] = [await makeTenant(api), await makeTenant(api)];
});
afterAll(() => api?.close());

describe('costly reads', () => {
  it('costly reads of one person wait for each other, and too many are refused, unlike those of another person', async () => {
    // Nobody can lock this table while a search reads it, so searches wait as if it were large.
    const blocking = api.services.orm.em.fork();
    await blocking.begin();
    await blocking.execute('lock table projects in access exclusive mode');
    const searches = Array.from({ length: 30 }, () => busy.owner.get('/search?q=zebra'));
    const refused = await Promise.race(searches);
    const theirs = other.owner.get('/search?q=zebra');
    const plain = await other.owner.get('/organizations');
    await blocking.rollback();
    expect([refused.status, refused.headers['retry-after'], plain.status]).toEqual([429, '2', 200]);
    expect((await theirs).status).toBe(200);
    const statuses = (await Promise.all(searches)).map(({ status }) => status);
    const answered = statuses.filter((status) => status === 200).length;
    // One at a time and twenty that wait; those that arrive after the first are done find a place, too.
    expect(answered).toBeGreaterThanOrEqual(21);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30 - answered);
  });
});
