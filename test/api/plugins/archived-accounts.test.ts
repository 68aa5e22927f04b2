import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addServiceAccount } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { check, sendCommand } from '#test/support/plugins/plugin-world.ts';
import { clientOf, stagePlugin } from '#test/support/plugins/stage.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

/** A service account of a team, to which an action is assigned for the organization. */
async function stageAccount() {
  const stage = await stagePlugin(api, 'organization');
  const { root, sync, organization, team } = stage;
  const account = await addServiceAccount({ url: '', orm: api.services.orm }, 'requester', {}, { teamId: team });
  const selector = { type: 'organization', id: organization };
  const subject = { type: 'service_account', id: account.id };
  const grant = await root.assign(sync, subject, selector);
  const change = async (verb: 'archive' | 'unarchive') => {
    const answer = await root.command(['POST', `/organizations/${organization}/teams/${team}/${verb}`], {});
    expect(answer.status, answer.text).toBe(200);
  };
  const ended = async () => (await root.read(`/plugin-action-grants/${grant}`)).ended;
  return { ...stage, client: clientOf(api, account), selector, subject, change, ended };
}

describe('a service account of an archived team', () => {
  it('has lost its assignments for the organization, as a check says', async () => {
    const { client, sync, selector, change, ended } = await stageAccount();
    expect(await check(client, sync, selector)).toMatchObject({ allowed: true });
    await change('archive');
    const reason = { code: 'subject_archived', message: 'the team of the service account is archived' };
    expect(await ended()).toMatchObject({ ...reason, at: expect.any(String), others: [] });
    expect(await check(client, sync, selector)).toEqual({ allowed: false, reason });
  });

  it('cannot get an assignment for the organization while the team is archived', async () => {
    const { root, sync, client, subject, selector, change, ended } = await stageAccount();
    await change('archive');
    const assign = async () =>
      sendCommand(root.client, ['POST', '/plugin-action-grants'], await root.assignmentOf(sync, subject, selector));
    const refused = await assign();
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringMatching(/^subject: .*not archived/)]);
    await change('unarchive');
    expect(await ended()).toMatchObject({ code: 'subject_returned' });
    expect(await check(client, sync, selector)).toMatchObject({ allowed: false });
    expect((await assign()).status).toBe(201);
    expect(await check(client, sync, selector)).toMatchObject({ allowed: true });
  });
});
