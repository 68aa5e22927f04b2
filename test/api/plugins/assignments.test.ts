import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addServiceAccount } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { check, sendCommand } from '#test/support/plugins/plugin-world.ts';
import { addUser, clientOf, stagePlugin } from '#test/support/plugins/stage.ts';
import { hiding, transitions } from '#test/support/plugins/transitions.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

/** A member of the stage's team, to whom an action is assigned in it. */
async function stageMember(owner: 'team' | 'organization' = 'team') {
  const stage = await stagePlugin(api, owner);
  const { team, organization, root, sync } = stage;
  const member = await addUser(api, 'requester', {
    teams: { [team]: 'member' },
    organizations: { [organization]: 'member' },
  });
  const selector = { type: 'team', id: team } as const;
  const subject = { type: 'user', id: member.id };
  const grant = await root.assign(sync, subject, selector);
  const may = async () => {
    const { allowed, reason } = await check(member.client, sync, selector);
    return [allowed, reason.code];
  };
  expect(await may()).toEqual([true, 'assigned']);
  return { ...stage, member, selector, subject, grant, may };
}

describe('an assignment', () => {
  it.each(Object.entries(transitions))(
    'ends permanently by %s',
    async (_name, { code, owner = 'organization', prepare, change, restore }) => {
      const stage = await stageMember(owner);
      await prepare?.(stage);
      await change(stage);
      const hidden = hiding[code];
      if (hidden !== undefined) {
        const { status } = await stage.member.client.send('POST', `/plugin-actions/${stage.sync}/check`, {
          selector: stage.selector,
        });
        expect(status).toBe(hidden);
      } else expect(await stage.may()).toEqual([false, code]);
      if (!restore) return;
      await restore(stage);
      const [allowed] = await stage.may();
      expect(allowed).toBe(false);
      const { grants } = await stage.root.read(`/plugin-action-grants?subject_id=${stage.member.id}`);
      expect(grants).toMatchObject([{ id: stage.grant, in_force: false }]);
      // Only a new assignment gives the action again.
      await stage.root.assign(stage.sync, stage.subject, stage.selector);
      expect(await stage.may()).toEqual([true, 'assigned']);
    },
  );

  it('covers its selector and everything in it, and nothing else', async () => {
    const stage = await stagePlugin(api, 'organization');
    const { root, sync, organization, team, project, environment } = stage;
    const member = await addUser(api, 'requester', {
      teams: { [team]: 'member' },
      organizations: { [organization]: 'member' },
    });
    const subject = { type: 'user', id: member.id };
    const places = {
      organization: { type: 'organization', id: organization },
      organization_descendants: { type: 'organization_descendants', id: organization },
      team: { type: 'team', id: team },
      project: { type: 'project', id: project },
      environment: { type: 'environment', id: environment },
    };
    const covered: Record<string, string[]> = {
      organization: ['organization'],
      organization_descendants: ['organization', 'organization_descendants', 'team', 'project', 'environment'],
      team: ['team', 'project', 'environment'],
      project: ['project', 'environment'],
      environment: ['environment'],
    };
    for (const [name, selector] of Object.entries(places)) {
      const grant = await root.assign(sync, subject, selector);
      const allowed: string[] = [];
      for (const [asked, place] of Object.entries(places))
        if ((await check(member.client, sync, place)).allowed) allowed.push(asked);
      expect([name, allowed]).toEqual([name, covered[name]]);
      const { ownership } = (await root.client.send('POST', `/plugin-actions/${sync}/grant-review`, { selector })).body;
      await root.revoke(grant, ownership);
    }
  });

  it('an assignment for an organization and everything in it is checked in a team that its subject may not read', async () => {
    const stage = await stagePlugin(api, 'organization');
    const { root, sync, installation, organization, team, environment } = stage;
    const member = await addUser(api, 'requester', { organizations: { [organization]: 'member' } });
    const ask = (place: object) =>
      member.client.send('POST', `/plugin-actions/${sync}/check`, { selector: place }).then(({ status }) => status);
    const places = [
      { type: 'team', id: team },
      { type: 'environment', id: environment },
    ];
    const listed = `/plugin-installations/${installation}/actions?selector_type=team&selector_id=${team}`;
    expect(await Promise.all(places.map(ask))).toEqual([400, 400]);
    expect((await member.client.send('GET', listed)).status).toBe(404);
    const selector = { type: 'organization_descendants', id: organization };
    const grant = await root.assign(sync, { type: 'user', id: member.id }, selector);
    for (const place of places) expect(await check(member.client, sync, place)).toMatchObject({ allowed: true });
    expect((await member.client.send('GET', listed)).status).toBe(200);
    const { ownership } = (await root.client.send('POST', `/plugin-actions/${sync}/grant-review`, { selector })).body;
    await root.revoke(grant, ownership);
    expect(await Promise.all(places.map(ask))).toEqual([400, 400]);
  });

  it('is not part of any role, and an administrator may assign an action to themselves', async () => {
    const { root, sync, team } = await stagePlugin(api);
    const owner = await addUser(api, 'maintainer', { teams: { [team]: 'owner' } });
    const selector = { type: 'team', id: team };
    expect(await check(root.client, sync, selector)).toMatchObject({
      allowed: false,
      reason: { code: 'not_assigned' },
    });
    expect(await check(owner.client, sync, selector)).toMatchObject({ allowed: false });
    const body = await root.assignmentOf(sync, { type: 'user', id: owner.id }, selector);
    const answer = await sendCommand(owner.client, ['POST', '/plugin-action-grants'], body);
    expect([answer.status, answer.text]).toEqual([201, expect.stringContaining('audit_record_id')]);
    expect(await check(owner.client, sync, selector)).toMatchObject({ allowed: true });
  });

  it('requires the right to manage memberships of its place', async () => {
    const { root, sync, team } = await stagePlugin(api);
    const selector = { type: 'team', id: team };
    const member = await addUser(api, 'maintainer', { teams: { [team]: 'member' } });
    const stranger = await addUser(api, 'maintainer');
    const body = await root.assignmentOf(sync, { type: 'user', id: member.id }, selector);
    const ask = async (client: typeof member.client) =>
      (await sendCommand(client, ['POST', '/plugin-action-grants'], body)).status;
    expect([await ask(member.client), await ask(stranger.client)]).toEqual([403, 400]);
    const review = await member.client.send('POST', `/plugin-actions/${sync}/grant-review`, { selector });
    expect(review.body).toMatchObject({ may_grant: false, reason: { code: 'permission_denied' } });
  });

  it('may be for a service account, whose keys may then use the action', async () => {
    const { root, sync, team } = await stagePlugin(api);
    const account = await addServiceAccount({ url: '', orm: api.services.orm }, 'requester', {}, { teamId: team });
    const selector = { type: 'team', id: team };
    await root.assign(sync, { type: 'service_account', id: account.id }, selector);
    expect(await check(clientOf(api, account), sync, selector)).toMatchObject({ allowed: true });
  });

  it.each([
    ['a subject that does not exist', 'subject'],
    ['a selector that does not exist', 'selector'],
    ['an action that does not exist', 'action'],
    ['a subject outside the team', 'outsider'],
  ])('assigning an action to %s answers 400', async (_name, wrong) => {
    const { root, sync, team } = await stagePlugin(api);
    const outsider = await addUser(api, 'requester');
    const member = await addUser(api, 'requester', { teams: { [team]: 'member' } });
    const body = await root.assignmentOf(sync, { type: 'user', id: member.id }, { type: 'team', id: team });
    const changes: Record<string, object> = {
      subject: { subject: { type: 'user', id: randomUUID() } },
      selector: { selector: { type: 'team', id: randomUUID() } },
      action: { action_id: randomUUID() },
      outsider: { subject: { type: 'user', id: outsider.id } },
    };
    const answer = await sendCommand(root.client, ['POST', '/plugin-action-grants'], { ...body, ...changes[wrong] });
    expect([answer.status, answer.text]).toEqual([400, expect.any(String)]);
  });

  it('an assignment of a background principal stays in its scope, and ends with its revocation', async () => {
    const stage = await stagePlugin(api, 'organization');
    const { root, sync, team, environment, organization } = stage;
    const selector = { type: 'team', id: team };
    const id = await root.approveBackground(stage.installation, sync, selector);
    const subject = { type: 'background_principal', id };
    await root.assign(sync, subject, { type: 'environment', id: environment });
    const outside = await root.assignmentOf(sync, subject, { type: 'organization', id: organization });
    expect((await sendCommand(root.client, ['POST', '/plugin-action-grants'], outside)).status).toBe(400);
    const grants = async () => (await root.read(`/plugin-action-grants?subject_id=${id}`)).grants;
    expect(await grants()).toMatchObject([{ in_force: true }]);
    const { expected_ownership } = await root.assignmentOf(sync, subject, selector);
    const body = { expected_revision: 1, expected_ownership };
    const answer = await sendCommand(root.client, ['DELETE', `/plugin-background-principals/${id}`], body);
    expect([answer.status, answer.body.state]).toEqual([200, 'revoked']);
    expect(await grants()).toMatchObject([{ in_force: false, ended: { code: 'subject_revoked' } }]);
  });

  it('an assignment of a background principal is not shown to a member of the organization who may not read its team', async () => {
    const { root, installation, organization, team, sync } = await stagePlugin(api, 'organization');
    await root.approveBackground(installation, sync, { type: 'team', id: team });
    const outsider = await addUser(api, 'requester', { organizations: { [organization]: 'member' } });
    const insider = await addUser(api, 'requester', {
      organizations: { [organization]: 'member' },
      teams: { [team]: 'viewer' },
    });
    const path = `/plugin-background-principals?installation_id=${installation}`;
    const read = async ({ client }: typeof outsider) => (await client.send('GET', path)).body.background_principals;
    expect(await read(outsider)).toEqual([]);
    expect(await read(insider)).toHaveLength(1);
  });

  it('an assignment of a background principal gives it no credential, and nobody can create one', async () => {
    const { root, sync, team, installation } = await stagePlugin(api);
    const id = await root.approveBackground(installation, sync, { type: 'team', id: team });
    const attempts = [
      root.command(['POST', `/service-accounts/${id}/api-keys`], { name: 'stolen' }),
      root.command(['PUT', `/users/${id}`], { role: 'admin' }),
      root.command(['POST', `/users/${id}/password-resets`], {}),
      root.command(
        [
          'PUT',
          `/organizations/${organizationOf(await root.read(`/plugin-installations/${installation}`))}/teams/${team}/members/${id}`,
        ],
        { role: 'owner' },
      ),
    ];
    for (const answer of await Promise.all(attempts))
      expect([400, 403, 404, 409, 422], answer.text).toContain(answer.status);
    const keys = await api.rows('select 1 from api_keys where principal_id = ?', [id]);
    const memberships = await api.rows('select 1 from team_members where principal_id = ?', [id]);
    expect([keys, memberships]).toEqual([[], []]);
  });
});

function organizationOf({ ownership }: { ownership: { organization_id: string } }): string {
  return ownership.organization_id;
}
