import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { codeOf } from '#test/support/plugins/deleted-resource.ts';
import { check, encode, manifestOf, noOwnership, sendCommand } from '#test/support/plugins/plugin-world.ts';
import { addUser, stagePlugin } from '#test/support/plugins/stage.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

/** A plugin with an assignment to a member, a background principal and a deleted resource. */
async function stageUse() {
  const stage = await stagePlugin(api);
  const { root, installation, team, sync } = stage;
  const selector = { type: 'team', id: team };
  const member = await addUser(api, 'requester', { teams: { [team]: 'member' } });
  const subject = { type: 'user', id: member.id };
  const grant = await root.assign(sync, subject, selector);
  const background = await root.approveBackground(installation, sync, selector);
  const { expected_ownership } = await root.stateOf(`/plugin-installations/${installation}`);
  const resource = await root.createResource(installation, { team_id: team }, expected_ownership);
  await root.deleteResource(resource);
  const path = `/plugin-installations/${installation}`;
  return { ...stage, member, subject, selector, grant, background, resource, path, expected_ownership };
}

describe('the removal of a plugin', () => {
  it('returns an uncacheable receipt, returns it again to the same key, and has an outcome', async () => {
    const { root, installation, path } = await stageUse();
    const body = await root.stateOf(path);
    const key = randomUUID();
    const first = await sendCommand(root.client, ['DELETE', path], body, key);
    const receipt = { id: installation, revision: 3, state: 'deleted', audit_record_id: expect.any(String) };
    expect([first.status, first.body]).toEqual([200, receipt]);
    expect((first.headers as Record<string, string>)['cache-control']).toBe('no-store');
    expect((await sendCommand(root.client, ['DELETE', path], body, key)).body).toEqual(first.body);
    const outcome = await root.client.send('GET', '/commands/outcome', undefined, { 'idempotency-key': key });
    expect(outcome.body).toMatchObject({ kind: 'committed', receipt: { resource_id: installation, state: 'deleted' } });
    const again = await root.remove(installation);
    expect([...codeOf(again), again.body.error]).toEqual([409, 'plugin_removed', 'the plugin is removed already']);
    expect((await root.read(path)).actions).toContainEqual({
      name: 'delete',
      allowed: false,
      reason: 'the plugin is removed already',
    });
    expect(await root.read(`/audit/${first.body.audit_record_id}`)).toMatchObject({
      action: 'plugin_installation.deleted',
      before: { name: 'dns', release: '1.0.0' },
    });
    const events = await api.rows(`select 1 from domain_events where type = 'plugin_installation.deleted'`);
    expect(events.length).toBeGreaterThan(0);
  });

  it('requires an idempotency key, the revision and the complete ownership', async () => {
    const { root, path } = await stageUse();
    const body = await root.stateOf(path);
    expect((await root.client.send('DELETE', path, body)).status).toBe(400);
    expect((await sendCommand(root.client, ['DELETE', path], {})).status).toBe(400);
    const stale = await sendCommand(root.client, ['DELETE', path], { ...body, expected_revision: 1 });
    expect(codeOf(stale)).toEqual([409, 'stale_revision']);
    const expected_ownership = { ...body.expected_ownership, team_revision: 9 };
    const moved = await sendCommand(root.client, ['DELETE', path], { ...body, expected_ownership });
    expect(codeOf(moved)).toEqual([409, 'ownership_changed']);
  });

  it('requires the right to manage memberships, which a member lacks', async () => {
    const { root, path, member, team } = await stageUse();
    const body = await root.stateOf(path);
    expect((await sendCommand(member.client, ['DELETE', path], body)).status).toBe(403);
    const stranger = await addUser(api, 'maintainer');
    expect((await sendCommand(stranger.client, ['DELETE', path], body)).status).toBe(404);
    const administrator = await addUser(api, 'maintainer', { teams: { [team]: 'admin' } });
    expect((await sendCommand(administrator.client, ['DELETE', path], body)).status).toBe(200);
  });

  it('is refused while the plugin has resources, with their number, and leaves everything in force', async () => {
    const { root, installation, team, member, sync, selector, expected_ownership } = await stageUse();
    const make = (key: string) => root.createResource(installation, { team_id: team }, expected_ownership, key);
    const [one, two] = [await make('one'), await make('two')];
    const refused = await root.remove(installation);
    expect(codeOf(refused)).toEqual([409, 'in_use']);
    expect(refused.body.error).toBe('the plugin has 2 resources: delete them first');
    await root.deleteResource(one);
    expect((await root.remove(installation)).body.error).toBe('the plugin has one resource: delete it first');
    expect(await check(member.client, sync, selector)).toMatchObject({ allowed: true });
    await root.deleteResource(two);
    expect((await root.remove(installation)).status).toBe(200);
  });

  it('is not prevented by a resource of a team that was transferred, which can still delete it', async () => {
    const stage = await stagePlugin(api, 'organization');
    const { root, installation, organization, team } = stage;
    const expected_ownership = { ...noOwnership, organization_id: organization, team_id: team, team_revision: 1 };
    const resource = await root.createResource(installation, { team_id: team }, expected_ownership);
    expect(codeOf(await root.remove(installation))).toEqual([409, 'in_use']);
    const { id } = (await root.command(['POST', '/organizations'], { name: `Elsewhere ${team.slice(-12)}` })).body;
    await root.command(['POST', `/organizations/${organization}/teams/${team}/transfer`], { organization_id: id });
    expect((await root.remove(installation)).status).toBe(200);
    const administrator = await addUser(api, 'maintainer', { teams: { [team]: 'admin' } });
    const path = `/plugin-resources/${resource}`;
    const read = async () => (await administrator.client.send('GET', path)).body;
    const stateOf = ({ revision, ownership }: Awaited<ReturnType<typeof read>>) => ({
      expected_revision: revision,
      expected_ownership: ownership,
    });
    const deleted = await sendCommand(administrator.client, ['DELETE', path], stateOf(await read()));
    expect([deleted.status, deleted.body.state]).toEqual([200, 'deleted']);
    const shown = await read();
    const refusal = { name: 'restore', allowed: false, reason: 'the plugin was removed: install it anew' };
    expect(shown.actions).toContainEqual(refusal);
    const restored = await sendCommand(administrator.client, ['POST', `${path}/restore`], stateOf(shown));
    expect([...codeOf(restored), restored.body.error]).toEqual([409, 'plugin_removed', refusal.reason]);
  });

  it('leaves no action that a release declares', async () => {
    const { root, installation, path, team } = await stageUse();
    expect((await root.read(`${path}/actions`)).actions).toHaveLength(2);
    await root.remove(installation);
    expect((await root.read(`${path}/actions`)).actions).toEqual([]);
    expect((await root.read(`${path}/actions?selector_type=team&selector_id=${team}`)).actions).toEqual([]);
    const { actions } = await root.read(`/plugin-actions?installation_id=${installation}`);
    const unusable = { declared: false, approved: false };
    expect(actions).toMatchObject([unusable, unusable]);
  });

  it('the removal of a plugin and the deletion of a resource leave nothing that a search finds', async () => {
    const { root, installation, resource, team, expected_ownership } = await stageUse();
    const kept = await root.createResource(installation, { team_id: team }, expected_ownership, 'kept');
    const find = async (text: string) => (await root.read(`/search?q=${text}`)).results;
    expect(await find(installation)).toMatchObject([{ kind: 'plugin_installation' }]);
    expect(await find(kept)).toMatchObject([{ kind: 'plugin_resource' }]);
    expect(await find(resource)).toEqual([]);
    await root.deleteResource(kept);
    await root.remove(installation);
    expect(await find(installation)).toEqual([]);
    expect(await find(kept)).toEqual([]);
  });

  it('the removal of a plugin and a simultaneous registration of a resource do not both succeed', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const { root, installation, team, expected_ownership } = await stageUse();
      const resource = { type: 'zone', name: 'raced', key: 'raced', team_id: team };
      const body = { installation_id: installation, ...resource, expected_ownership };
      const answers = await Promise.all([root.remove(installation), root.command(['POST', '/plugin-resources'], body)]);
      expect(answers.map(({ status }) => status).filter((status) => status === 409)).toHaveLength(1);
    }
  });

  it('is allowed if the team is archived', async () => {
    const { root, installation, organization, team } = await stageUse();
    await root.command(['POST', `/organizations/${organization}/teams/${team}/archive`], {});
    expect((await root.remove(installation)).status).toBe(200);
  });
});

describe('a plugin that was removed', () => {
  it('has no assignments, background principals and ceiling in force any more, and says so', async () => {
    const { root, installation, path, member, grant, background, sync, selector } = await stageUse();
    await root.remove(installation);
    const reason = { code: 'plugin_removed', message: 'the plugin was removed' };
    expect(await check(member.client, sync, selector)).toEqual({ allowed: false, reason });
    expect(await root.read(`/plugin-action-grants/${grant}`)).toMatchObject({
      in_force: false,
      ended: { ...reason, at: expect.any(String), others: [] },
    });
    expect(await root.read(`/plugin-background-principals/${background}`)).toMatchObject({
      state: 'ended',
      ended: { ...reason, at: expect.any(String) },
    });
    expect(await root.read(`${path}/ceiling`)).toMatchObject({ current: false, actions: ['zone.sync', 'zone.read'] });
    const review = await root.client.send('POST', `/plugin-actions/${sync}/grant-review`, { selector });
    expect(review.body).toMatchObject({ may_grant: false, reason });
    const list = async (query: string) => await root.read(`${query}&installation_id=${installation}`);
    expect((await list('/plugin-action-grants?in_force=true')).grants).toEqual([]);
    expect((await list('/plugin-background-principals?state=active')).background_principals).toEqual([]);
    expect((await list('/plugin-background-principals?state=ended')).background_principals).toHaveLength(1);
  });

  it('refuses commands that give authority', async () => {
    const { root, installation, path, background, resource, sync, subject, selector, team, ...stage } =
      await stageUse();
    const assignment = await root.assignmentOf(sync, subject, selector);
    await root.remove(installation);
    const state = await root.stateOf(path);
    const { expected_installation_revision: _, ...assigned } = assignment;
    const forInstallation = { expected_installation_revision: 3, expected_ownership: stage.expected_ownership };
    const zone = { type: 'zone', name: 'new', key: 'new', team_id: team };
    const commands: [string, string, object][] = [
      ['POST', `${path}/manifests`, { release: '2.0.0', ...encode(manifestOf('2.0.0')), ...state }],
      ['POST', `${path}/activate`, { release: '1.0.0', ...state }],
      ['PUT', `${path}/ceiling`, { actions: [], executions: [], expected_ceiling_revision: 1, ...state }],
      ['POST', '/plugin-action-grants', { ...assigned, ...forInstallation }],
      [
        'POST',
        '/plugin-background-principals',
        { installation_id: installation, name: 'x', selector, ...forInstallation },
      ],
      [
        'POST',
        '/plugin-resources',
        { installation_id: installation, ...zone, expected_ownership: stage.expected_ownership },
      ],
      ['POST', `/plugin-resources/${resource}/restore`, await root.stateOf(`/plugin-resources/${resource}`)],
    ];
    for (const [method, route, body] of commands) {
      const answer = await root.command([method, route], body);
      expect([route, ...codeOf(answer)], answer.text).toEqual([route, 409, 'plugin_removed']);
    }
    const revocation = await root.stateOf(`/plugin-background-principals/${background}`);
    const revoked = await root.command(['DELETE', `/plugin-background-principals/${background}`], revocation);
    expect(revoked.status).toBe(200);
  });

  it('is in no list once its owner was deleted', async () => {
    const { root, path, team } = await stageUse();
    const listed = async () => {
      const { installations } = await root.read('/plugin-installations?limit=200');
      const { actions } = await root.read('/plugin-actions?limit=200');
      const ids: string[] = [
        ...installations.map((each: { id: string }) => each.id),
        ...actions.map((each: { installation_id: string }) => each.installation_id),
      ];
      return ids.filter((id) => path.endsWith(id)).length;
    };
    expect(await listed()).toBe(3);
    await api.rows('update teams set deleted_at = now() where id = ?', [team]);
    expect(await listed()).toBe(0);
    expect((await root.client.send('GET', path)).status).toBe(404);
  });

  it('is readable, but not listed with installed plugins, and its name can be used again', async () => {
    const { root, installation, path, team, organization } = await stageUse();
    const { actions: before } = await root.read(path);
    const names = ['stage', 'activate', 'replace_ceiling', 'delete'];
    expect(before).toEqual(names.map((name) => ({ name, allowed: true, reason: null })));
    await root.remove(installation);
    const { id } = await root.read('/auth/whoami');
    const shown = await root.read(path);
    expect(shown).toMatchObject({ deleted_at: expect.any(String), deleted_by: id, revision: 3 });
    expect(shown.actions).toMatchObject(names.map((name) => ({ name, allowed: false })));
    const listed = async (query: string) =>
      (await root.read(`/plugin-installations?team_id=${team}${query}`)).installations.map(
        (each: { id: string }) => each.id,
      );
    expect([await listed(''), await listed('&deleted=true')]).toEqual([[], [installation]]);
    expect((await root.read(`${path}/manifests`)).manifests).toHaveLength(1);
    expect((await root.read(`/plugin-actions?installation_id=${installation}`)).actions).toHaveLength(2);
    const ownership = { ...noOwnership, organization_id: organization, team_id: team, team_revision: 1 };
    const again = await root.install({ team_id: team }, ownership);
    expect(await listed('')).toEqual([again]);
  });
});
