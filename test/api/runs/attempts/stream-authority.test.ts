import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addPerson, addTeam, type Person, publish, sayHello } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';

let api: TestApi;
let admin: Person;
beforeAll(async () => {
  api = await startApi();
  admin = await addPerson(api, 'admin');
});
afterAll(() => api?.close());

const execute = (sql: string, ...params: unknown[]) => api.orm.em.fork().execute(sql, params);

/** A team with a run that waits, and a viewer of the team who follows it. */
async function follow() {
  const { teamId, organizationId } = await addTeam(api.orm);
  const owner = await addPerson(api, 'operator', {
    teams: { [teamId]: 'owner' },
    organizations: { [organizationId]: 'owner' },
  });
  const templateId = await publish(owner.caller, sayHello, teamId);
  const { body, text } = await owner.caller.post('/runs', { template_id: templateId, instance: `i-${randomUUID()}` });
  expect(body.id, text).toBeDefined();
  const viewer = await addPerson(api, 'requester', {
    teams: { [teamId]: 'viewer' },
    organizations: { [organizationId]: 'member' },
  });
  const stream = await viewer.caller.stream(`/runs/${body.id}/logs/stream`);
  expect(stream.status).toBe(200);
  return { owner, viewer, stream, run: body.id as string, teamId, organizationId };
}

type Followed = Awaited<ReturnType<typeof follow>>;

/** The seconds until the stream has ended; undefined if it has not after seven. @throws if the connection broke instead */
async function secondsUntilEnd({ stream }: Followed): Promise<number | undefined> {
  const begun = performance.now();
  const reading = (async () => {
    for await (const chunk of stream.body ?? []) void chunk;
  })();
  reading.catch(() => undefined); // a stream that the test cancels after its time
  const isOpen = Symbol('open');
  const end = await Promise.race([reading, sleep(7_000, isOpen)]);
  return end === isOpen ? undefined : (performance.now() - begun) / 1_000;
}

const revocations: Record<string, (followed: Followed) => Promise<unknown>> = {
  'the key is revoked': ({ viewer }) => viewer.caller.send('DELETE', `/profile/api-keys/${viewer.keyId}`),
  'the key expires': ({ viewer }) => execute('update api_keys set expires_at = now() where id = ?', viewer.keyId),
  'the user is disabled': ({ viewer }) => admin.caller.send('PUT', `/users/${viewer.id}`, { enabled: false }),
  'the membership is removed': ({ owner, viewer, teamId, organizationId }) =>
    owner.caller.send('DELETE', `/organizations/${organizationId}/teams/${teamId}/members/${viewer.id}`),
  // The API refuses the next three while a run is under way, so only the database can do them.
  'the team is archived': ({ teamId }) =>
    execute(
      'update teams set archived_at = now(), eligibility_generation = eligibility_generation + 1 where id = ?',
      teamId,
    ),
  'the organization is archived': ({ organizationId }) =>
    execute(
      'update organizations set archived_at = now(), eligibility_generation = eligibility_generation + 1 where id = ?',
      organizationId,
    ),
  'the team is transferred': async ({ owner, teamId }) => {
    const { body } = await owner.caller.post('/organizations', { name: `Other ${randomUUID()}` });
    await execute('update teams set organization_id = ? where id = ?', body.id, teamId);
  },
  'the team is deleted': ({ teamId }) => execute('update teams set deleted_at = now() where id = ?', teamId),
};

describe('a stream of events ends within five seconds after', () => {
  it.concurrent.each(Object.keys(revocations))('%s', async (name) => {
    const followed = await follow();
    // The access is checked first after 250 ms, and later checks compare the owner's generation with the one that was read then.
    await sleep(500);
    const answer = (await revocations[name]!(followed)) as { status?: number; text?: string } | undefined;
    expect(answer?.status ?? 200, answer?.text).toBeLessThan(300);
    expect(await secondsUntilEnd(followed)).toBeLessThan(5);
  });
});

it.concurrent('a stream of events continues while its reader may read', async () => {
  const followed = await follow();
  expect(await secondsUntilEnd(followed)).toBeUndefined();
  await followed.stream.body?.cancel().catch(() => undefined);
  await followed.owner.caller.post(`/runs/${followed.run}/cancel`, { force: true });
});
