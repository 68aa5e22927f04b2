import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addEnvironment, addPerson, addServiceAccount, addTeam, type Person } from '#test/support/access/people.ts';
import type { Answer, Caller } from '#test/support/api/caller.ts';
import { startApi, type TestApi } from '#test/support/api/http-api.ts';
import { within } from '#test/support/slowness.ts';

/** How many commands a principal sends at once. */
const concurrency = 24;
/** In milliseconds. A command that only waits for the running commands takes a fraction of this. */
const soon = 5_000;

let api: TestApi;
let root: Person;
beforeAll(async () => {
  api = await startApi({ COORDINATOR_DATABASE_POOL: '30' });
  root = await addPerson(api, 'admin');
});
afterAll(() => api.close());

interface Flooded {
  readonly organizationId: string;
  readonly teamId: string;
  readonly environmentId: string;
  readonly flooder: Person;
}

interface Revocation {
  /** Whether a service account of the team sends the commands, instead of a user. */
  readonly byAccount?: true;
  revoke(by: Caller, flooded: Flooded): Promise<Answer>;
}

const team = ({ organizationId, teamId }: Flooded) => `/organizations/${organizationId}/teams/${teamId}`;

const revocations: Record<string, Revocation> = {
  'disabling the user': { revoke: (by, { flooder }) => by.send('PUT', `/users/${flooder.id}`, { enabled: false }) },
  'giving the user another platform role': {
    revoke: (by, { flooder }) => by.send('PUT', `/users/${flooder.id}`, { role: 'requester' }),
  },
  'removing the member from the team': {
    revoke: (by, flooded) => by.send('DELETE', `${team(flooded)}/members/${flooded.flooder.id}`),
  },
  'removing the member from the organization': {
    revoke: (by, { organizationId, flooder }) =>
      by.send('DELETE', `/organizations/${organizationId}/members/${flooder.id}`),
  },
  'revoking the key of a service account': {
    byAccount: true,
    revoke: (by, { flooder }) => by.send('DELETE', `/service-accounts/${flooder.id}/api-keys/${flooder.keyId}`),
  },
  'disabling the service account': {
    byAccount: true,
    revoke: (by, { flooder }) => by.post(`/service-accounts/${flooder.id}/disable`),
  },
  'transferring the service account': {
    byAccount: true,
    revoke: (by, { flooder }) => by.post(`/service-accounts/${flooder.id}/transfer`, { owner: { user_id: root.id } }),
  },
  'deleting the service account': {
    byAccount: true,
    revoke: (by, { flooder }) => by.send('DELETE', `/service-accounts/${flooder.id}`),
  },
};

/** Changes after which the principal keeps its authority, but can change nothing there. */
const closures: Record<string, Revocation> = {
  'archiving the organization': {
    revoke: (by, { organizationId }) => by.post(`/organizations/${organizationId}/archive`),
  },
  'archiving the team': { revoke: (by, flooded) => by.post(`${team(flooded)}/archive`) },
  'archiving the environment': {
    revoke: (by, { environmentId }) => by.post(`/environments/${environmentId}/archive`),
  },
};

describe('while a principal sends 24 commands at once', () => {
  test.each(Object.entries({ ...revocations, ...closures }))(
    '%s answers soon and makes the commands fail',
    async (_, revocation) => {
      const { flooded, flood } = await startFlood(revocation.byAccount);
      try {
        const answer = await within(soon, () => revocation.revoke(root.caller, flooded));
        expect(answer.status, answer.text).toBeLessThan(300);
        const after = await setVariable(flooded);
        expect([401, 403, 404, 409]).toContain(after.status);
      } finally {
        await flood.stop();
      }
      expect(flood.statuses).not.toContain(503);
    },
  );

  test('disabling the user does not delay changes of other users', async () => {
    const other = await addPerson(api, 'requester');
    const { flooded, flood } = await startFlood();
    try {
      const disabled = revocations['disabling the user']?.revoke(root.caller, flooded);
      const answer = await within(soon, () => root.caller.send('PUT', `/users/${other.id}`, { name: 'Renamed' }));
      expect(answer.status).toBe(200);
      expect((await disabled)?.status).toBe(200);
    } finally {
      await flood.stop();
    }
  });
});

async function startFlood(byAccount = false) {
  const { organizationId, teamId } = await addTeam(api.orm);
  const { environmentId } = await addEnvironment(api.orm, teamId);
  const memberships = { organizations: { [organizationId]: 'member' }, teams: { [teamId]: 'admin' } } as const;
  const flooder = byAccount
    ? await addServiceAccount(api, 'maintainer', { teams: { [teamId]: 'admin' } }, { teamId })
    : await addPerson(api, 'maintainer', memberships);
  const flooded = { organizationId, teamId, environmentId, flooder };
  const first = await setVariable(flooded);
  if (first.status >= 300) throw new Error(`the flood has no authority: ${first.text}`);
  const flood = sendRepeatedly(() => setVariable(flooded));
  // The flood is steady once every sender waits for the others.
  await expect.poll(() => flood.statuses.length).toBeGreaterThan(2 * concurrency);
  return { flooded, flood };
}

function setVariable({ flooder, environmentId }: Flooded): Promise<Answer> {
  return flooder.caller.send('PUT', `/environments/${environmentId}/variables/X`, {
    category: 'env',
    value: `${made++}`,
  });
}
let made = 0;

function sendRepeatedly(send: () => Promise<Answer>) {
  const statuses: number[] = [];
  let isStopped = false;
  const work = async () => {
    while (!isStopped) statuses.push((await send()).status);
  };
  const workers = Array.from({ length: concurrency }, work);
  const stop = async () => {
    isStopped = true;
    await Promise.all(workers);
  };
  return { statuses, stop };
}
