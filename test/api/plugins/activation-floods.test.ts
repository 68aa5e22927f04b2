import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { PluginAdministrator, sendCommand } from '#test/support/plugins/plugin-world.ts';
import { addUser, stagePlugin } from '#test/support/plugins/stage.ts';
import { within } from '#test/support/slowness.ts';

/** How many requests the owner of a team sends at the same time. */
const concurrency = 12;
/** In milliseconds. An activation that only waits for the running requests takes a fraction of this. */
const soon = 5_000;

let api: TestApi;
beforeAll(async () => {
  api = await startApi({ COORDINATOR_DATABASE_POOL: '30' });
});
afterAll(() => api?.close());

it('activating a plugin of an organization succeeds soon while a team owner keeps assigning an action', async () => {
  const stage = await stagePlugin(api, 'organization');
  const { root, installation, organization, team, sync } = stage;
  const owner = await addUser(api, 'maintainer', {
    organizations: { [organization]: 'member' },
    teams: { [team]: 'owner' },
  });
  const teamAdministrator = new PluginAdministrator(owner.client);
  const [subject, selector] = [
    { type: 'user', id: owner.id },
    { type: 'team', id: team },
  ];
  await teamAdministrator.assign(sync, subject, selector);
  const body = await teamAdministrator.assignmentOf(sync, subject, selector);
  const statuses: number[] = [];
  let isStopped = false;
  const flood = Array.from({ length: concurrency }, async () => {
    while (!isStopped) statuses.push((await sendCommand(owner.client, ['POST', '/plugin-action-grants'], body)).status);
  });
  await expect.poll(() => statuses.length).toBeGreaterThan(2 * concurrency);
  try {
    await within(soon, () => root.activate(installation, '1.0.0'));
  } finally {
    isStopped = true;
    await Promise.all(flood);
  }
  expect(new Set(statuses)).toEqual(new Set([409]));
});
