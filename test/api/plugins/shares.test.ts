import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { restoreResource } from '#domain/plugins/resources/resources.ts';
import { findResource } from '#domain/plugins/resources/store.ts';
import { takeAdvisoryLock } from '#domain/shared/access/authority-lock.ts';
import { addTeam } from '#test/support/access/people.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { codeOf } from '#test/support/plugins/deleted-resource.ts';
import { type PluginAnswer, sendCommand } from '#test/support/plugins/plugin-world.ts';
import { addUser, type PluginStage, stagePlugin } from '#test/support/plugins/stage.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const full = [409, 'limit_reached'];

describe('the background principals of a plugin', () => {
  it('are at most 200 of a team, without those that were revoked', async () => {
    const { root, installation, team, sync } = await stagePlugin(api);
    const selector = { type: 'team', id: team };
    const first = await root.approveBackground(installation, sync, selector);
    await copyBackground(first, 199);
    await expect(root.approveBackground(installation, sync, selector)).rejects.toThrow(
      'the team has 200 background principals of this plugin, which is the limit: revoke one first',
    );
    await api.rows('update plugin_background_principals set revoked_at = now() where id = ?', [first]);
    await root.approveBackground(installation, sync, selector);
  });

  it('the background principals of a plugin in one team do not count towards the limit of another team or the organization', async () => {
    const { root, installation, team, sync, organization } = await stagePlugin(api, 'organization');
    const { teamId: other } = await addTeam(api.services.orm, organization);
    await copyBackground(await root.approveBackground(installation, sync, { type: 'team', id: team }), 199);
    await expect(root.approveBackground(installation, sync, { type: 'team', id: team })).rejects.toThrow('the limit');
    await root.approveBackground(installation, sync, { type: 'team', id: other });
    const whole = { type: 'organization', id: organization };
    await copyBackground(await root.approveBackground(installation, sync, whole), 199);
    await expect(root.approveBackground(installation, sync, whole)).rejects.toThrow(
      'the organization itself has 200 background principals',
    );
  });

  it('do not count once their place was archived', async () => {
    const { root, installation, team, sync, environment } = await stagePlugin(api);
    await copyBackground(
      await root.approveBackground(installation, sync, { type: 'environment', id: environment }),
      199,
    );
    await root.client.send('POST', `/environments/${environment}/archive`);
    await root.approveBackground(installation, sync, { type: 'team', id: team });
    const counted = await api.rows(
      'select id from plugin_background_principals where installation_id = ? and counted',
      [installation],
    );
    expect(counted).toHaveLength(1);
  });

  it('are never more than 200, even if 50 are approved at once', async () => {
    const { root, installation, team, sync } = await stagePlugin(api);
    const selector = { type: 'team', id: team };
    await copyBackground(await root.approveBackground(installation, sync, selector), 189);
    const { expected_installation_revision, expected_ownership } = await root.assignmentOf(sync, {}, selector);
    const body = {
      installation_id: installation,
      name: 'x',
      selector,
      expected_installation_revision,
      expected_ownership,
    };
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => sendCommand(root.client, ['POST', '/plugin-background-principals'], body)),
    );
    expect(numberOf(answers, 201)).toBe(10);
    expect(answers.filter(({ status }) => status !== 201).map(codeOf)).toEqual(Array(40).fill(full));
  });
});

describe('the assignments of a plugin', () => {
  it('are at most 10,000 of a team, even if several are created at once, and do not count for another team', async () => {
    const stage = await stagePlugin(api, 'organization');
    const { teamId: other } = await addTeam(api.services.orm, stage.organization);
    await copyGrant(await assignNew(stage, stage.team), 9997);
    const answers = await Promise.all([1, 2, 3, 4].map(() => tryNew(stage, stage.team)));
    expect(numberOf(answers, 201)).toBe(2);
    expect(answers.filter(({ status }) => status !== 201).map(codeOf)).toEqual([full, full]);
    await assignNew(stage, other);
  });

  it('do not count once they have ended', async () => {
    const stage = await stagePlugin(api);
    await copyGrant(await assignNew(stage, stage.team), 9999);
    expect(codeOf(await tryNew(stage, stage.team))).toEqual(full);
    await stage.root.activate(stage.installation, '1.0.0');
    await stage.root.approve(stage.installation, ['zone.sync']);
    const living = await assignSoon(stage);
    await copyGrant(living, 9999);
    expect(codeOf(await tryNew(stage, stage.team))).toEqual(full);
  });

  it('are refused at once if the limit was reached a moment ago, even if others hold the lock', async () => {
    const stage = await stagePlugin(api);
    await copyGrant(await assignNew(stage, stage.team), 9999);
    expect(codeOf(await tryNew(stage, stage.team))).toEqual(full);
    const lock = `plugins/plugin_action_grants/${stage.installation}/${stage.team}`;
    await api.services.orm.em.fork().transactional(async (em) => {
      await takeAdvisoryLock(em, lock);
      expect(codeOf(await tryNew(stage, stage.team))).toEqual(full);
    });
  });
});

describe('the resources of a plugin', () => {
  it('are at most 10,000 of a team, even after a restoration, and do not count for another team', async () => {
    const { root, installation, organization, team } = await stagePlugin(api, 'organization');
    const { teamId: other } = await addTeam(api.services.orm, organization);
    const ownership = async (id: string) => (await root.read(`/organizations/${organization}/teams/${id}`)).revision;
    const create = async (id: string) => {
      const state = (await root.stateOf(`/plugin-installations/${installation}`)).expected_ownership;
      const owners = { ...state, team_id: id, team_revision: await ownership(id) };
      return root.createResource(installation, { team_id: id }, owners, randomUUID());
    };
    const deleted = await create(team);
    await root.deleteResource(deleted);
    await copyResource(await create(team), 9999);
    await expect(create(team)).rejects.toThrow(
      'the team has 10000 resources of this plugin, which is the limit: delete one first',
    );
    await create(other);
    const resource = await findResource(api.services.orm.em.fork(), deleted);
    const restored = api.services.transactions.run(async (tx) => resource && restoreResource(tx, resource));
    await expect(restored).rejects.toThrow(
      'the team has 10000 resources of this plugin, which is the limit: delete one first',
    );
  });
});

function numberOf(answers: readonly PluginAnswer[], wanted: number): number {
  return answers.filter(({ status }) => status === wanted).length;
}

async function tryNew({ root, sync }: PluginStage, team: string): Promise<PluginAnswer> {
  const member = await addUser(api, 'requester', { teams: { [team]: 'member' } });
  const body = await root.assignmentOf(sync, { type: 'user', id: member.id }, { type: 'team', id: team });
  return sendCommand(root.client, ['POST', '/plugin-action-grants'], body);
}

/** What has ended makes room after a second. */
async function assignSoon(stage: PluginStage): Promise<string> {
  let answer: PluginAnswer | undefined;
  await expect
    .poll(async () => {
      answer = await tryNew(stage, stage.team);
      return answer.status;
    })
    .toBe(201);
  return answer?.body.id;
}

async function assignNew(stage: PluginStage, team: string): Promise<string> {
  const { status, body, text } = await tryNew(stage, team);
  expect([status, text]).toEqual([201, expect.anything()]);
  return body.id;
}

/**
 * Adds rows to a table by a statement. Then counts them for the planner: a connection that served other files keeps plans for an almost empty
 * table, which take minutes for ten thousand rows.
 */
async function addMany(table: string, statement: string, values: readonly unknown[]): Promise<void> {
  await api.rows(statement, [...values]);
  await api.rows(`analyze ${table}`);
}

async function copyBackground(id: string, times: number): Promise<void> {
  await addMany(
    'plugin_background_principals',
    `with many as (select gen_random_uuid() as id from generate_series(1, ?)), added as (
       insert into principals (id, kind, name, enabled, created_at) select id, 'background', 'many', true, now() from many returning id)
     insert into plugin_background_principals
         (id, installation_id, selector_type, selector_id, scope_basis, owner_id, approved_by, revision, created_at)
       select added.id, b.installation_id, b.selector_type, b.selector_id, b.scope_basis, b.owner_id, b.approved_by, 1, now()
       from added, plugin_background_principals b where b.id = ?`,
    [times, id],
  );
}

async function copyGrant(id: string, times: number): Promise<void> {
  await addMany(
    'plugin_action_grants',
    `insert into plugin_action_grants (id, installation_id, action_id, subject_type, subject_id, selector_type, selector_id, basis,
         owner_id, granted_by, revision, created_at)
       select gen_random_uuid(), g.installation_id, g.action_id, g.subject_type, g.subject_id, g.selector_type, g.selector_id, g.basis,
         g.owner_id, g.granted_by, 1, now() from plugin_action_grants g, generate_series(1, ?) where g.id = ?`,
    [times, id],
  );
}

async function copyResource(id: string, times: number): Promise<void> {
  await addMany(
    'plugin_resources',
    `insert into plugin_resources (id, installation_id, type, name, key, roots, team_id, revision, eligibility_generation, created_by, created_at)
       select gen_random_uuid(), r.installation_id, r.type, r.name, 'many ' || n, r.roots, r.team_id, 1, 1, r.created_by, now()
       from plugin_resources r, generate_series(1, ?) n where r.id = ?`,
    [times, id],
  );
}
