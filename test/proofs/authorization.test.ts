import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { StatementFaults } from '#test/support/database/statement-faults.ts';

let api: TestApi;
let tenant: Tenant;
let statements: StatementFaults;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  statements = await StatementFaults.open(api.services.orm);
});
afterAll(async () => {
  statements?.remove();
  await api?.close();
});

/** Counts the database round trips of a request. The first request of a key is not counted, because it records the use of the key. */
async function roundTrips(send: (user: ApiUser) => Promise<{ status: number; text: string }>): Promise<number> {
  await send(tenant.owner);
  await api.services.keyUses.settle();
  const { result, statements: sent } = await statements.during(null, () => send(tenant.owner));
  expect(result.status, result.text).toBe(200);
  return sent.length;
}

describe('authorization', () => {
  it('needs one query for the caller, and none for the rate limits', async () => {
    expect(await roundTrips((user) => user.get('/auth/whoami'))).toBe(1);
  });

  it('needs one more query for the owner of the target', async () => {
    const ofTheOperation = 1;
    expect(await roundTrips((user) => user.get(`/environments/${tenant.environment}/variables`))).toBeLessThanOrEqual(
      2 + ofTheOperation,
    );
  });

  it('needs at most one more query for a review that names a team', async () => {
    const resource = { group: 'delivery.coordinator', version: 'v1', resource: 'environments', verb: 'update' };
    const attributes = { ...resource, name: tenant.environment, team_id: tenant.team };
    const review = (user: ApiUser) => user.post('/auth/can-i', { resource_attributes: attributes });
    expect(await roundTrips(review)).toBeLessThanOrEqual(3);
  });
});
