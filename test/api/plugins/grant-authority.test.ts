import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { check, encode, manifestOf, sendCommand } from '#test/support/plugins/plugin-world.ts';
import { addUser, type PluginStage, stagePlugin } from '#test/support/plugins/stage.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api?.close());

const teamPath = ({ organization, team }: PluginStage) => `/organizations/${organization}/teams/${team}`;

/** A member of a team with an assignment there. */
async function stageMember() {
  const stage = await stagePlugin(api, 'organization');
  const { organization, team, root, sync } = stage;
  const memberships = { teams: { [team]: 'member' as const }, organizations: { [organization]: 'member' as const } };
  const member = await addUser(api, 'requester', memberships);
  const selector = { type: 'team', id: team };
  const grant = await root.assign(sync, { type: 'user', id: member.id }, selector);
  const ended = async () => (await root.read(`/plugin-action-grants/${grant}`)).ended;
  const send = async (method: string, path: string, body: unknown = {}) => {
    const answer = await root.command([method, path], body);
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  return { ...stage, member, selector, grant, ended, send };
}
type MemberStage = Awaited<ReturnType<typeof stageMember>>;

/** Transfers the team to another organization, to which the subject belongs. Returns the id of that organization. */
async function move(stage: MemberStage): Promise<string> {
  const name = `Elsewhere ${stage.team.slice(-12)}`;
  const { id } = (await stage.root.command(['POST', '/organizations'], { name })).body;
  await stage.send('PUT', `/organizations/${id}/members/${stage.member.id}`, { role: 'member' });
  await stage.send('POST', `${teamPath(stage)}/transfer`, { organization_id: id });
  return id;
}

/** The clock of the database, in whole milliseconds. */
async function readClock(): Promise<number> {
  const [row] = await api.rows<{ ms: string }>('select round(extract(epoch from clock_timestamp()) * 1000) as ms');
  return Number(row?.ms);
}

describe('an ended assignment', () => {
  const causes: Readonly<Record<string, readonly [string, (stage: MemberStage) => Promise<unknown>]>> = {
    'its subject is disabled': [
      'subject_disabled',
      ({ send, member }) => send('PUT', `/users/${member.id}`, { enabled: false }),
    ],
    'its subject was disabled and enabled again': [
      'subject_returned',
      async ({ send, member }) => {
        await send('PUT', `/users/${member.id}`, { enabled: false });
        await send('PUT', `/users/${member.id}`, { enabled: true });
      },
    ],
    'its subject left': [
      'subject_left',
      (stage) => stage.send('DELETE', `${teamPath(stage)}/members/${stage.member.id}`),
    ],
    'its team is archived': ['scope_archived', (stage) => stage.send('POST', `${teamPath(stage)}/archive`)],
    'its team was archived and unarchived': [
      'scope_restored',
      async (stage) => {
        await stage.send('POST', `${teamPath(stage)}/archive`);
        await stage.send('POST', `${teamPath(stage)}/unarchive`);
      },
    ],
    'another release was activated': [
      'release_changed',
      ({ root, installation }) => root.activate(installation, '1.0.0'),
    ],
    'its subject left the organization': [
      'subject_left',
      (stage) => stage.send('DELETE', `/organizations/${stage.organization}/members/${stage.member.id}`),
    ],
    'its team was given to another organization': ['scope_moved', move],
    'its team was given to another organization and back': [
      'scope_restored',
      async (stage) => {
        const elsewhere = await move(stage);
        const path = `/organizations/${elsewhere}/teams/${stage.team}/transfer`;
        await stage.send('POST', path, { organization_id: stage.organization });
      },
    ],
    'the plugin was removed': ['plugin_removed', ({ root, installation }) => root.remove(installation)],
    'the ceiling left the action out': [
      'action_not_approved',
      ({ root, installation }) => root.approve(installation, []),
    ],
  };

  it.each(Object.entries(causes))('says that %s, at which time, and by whose change', async (_name, [code, change]) => {
    const stage = await stageMember();
    expect(await stage.ended()).toBeNull();
    const before = await readClock();
    await change(stage);
    const ended = await stage.ended();
    const isOfPlugin = ['plugin_removed', 'release_changed', 'action_not_approved'].includes(code);
    const by = isOfPlugin ? (await stage.root.read('/auth/whoami')).id : null;
    expect(ended).toMatchObject({ code, message: expect.any(String), by });
    const times = [before, Date.parse(ended.at), await readClock()];
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });

  it('keeps the reason subject_left after a later activation, which is an additional reason', async () => {
    const stage = await stageMember();
    await stage.send('DELETE', `${teamPath(stage)}/members/${stage.member.id}`);
    const { at } = await stage.ended();
    await stage.root.activate(stage.installation, '1.0.0');
    expect(await stage.ended()).toMatchObject({
      code: 'subject_left',
      at,
      others: ['release_changed', 'action_not_approved'],
    });
  });

  it('an assignment that a ceiling has ended has this reason even if the ceiling approves the action again', async () => {
    const { root, sync, member, selector, installation } = await stageMember();
    await root.approve(installation, []);
    const reasonNow = async () => (await check(member.client, sync, selector)).reason;
    expect(await reasonNow()).toMatchObject({ message: expect.stringContaining('does not approve the action') });
    await root.approve(installation, ['zone.sync']);
    expect(await reasonNow()).toMatchObject({ message: expect.stringContaining('stopped approving the action') });
  });

  it('is the reason of a check if it was the last for the place, even if it was revoked', async () => {
    const { root, sync, member, selector, grant } = await stageMember();
    const subject = { type: 'user', id: member.id };
    const { expected_ownership } = await root.assignmentOf(sync, subject, selector);
    await root.revoke(grant, expected_ownership);
    const reason = async () => (await check(member.client, sync, selector)).reason.code;
    expect(await reason()).toBe('revoked');
    const second = await root.assign(sync, subject, selector);
    expect(await reason()).toBe('assigned');
    await root.revoke(second, expected_ownership);
    expect(await reason()).toBe('revoked');
  });
});

describe('one assignment or background principal', () => {
  it('can be read, with the fields for its revocation, by readers of its place and by its subject', async () => {
    const stage = await stageMember();
    const { root, grant, member, sync, installation, selector } = stage;
    const stranger = await addUser(api, 'requester');
    const path = `/plugin-action-grants/${grant}`;
    const shown = await member.client.send('GET', path);
    expect([shown.status, (shown.headers as Record<string, string>).etag]).toEqual([200, '"1"']);
    expect(shown.body.actions).toMatchObject([{ name: 'revoke', allowed: false }]);
    expect((await stranger.client.send('GET', path)).status).toBe(404);
    await stage.send('DELETE', `${teamPath(stage)}/members/${member.id}`);
    expect((await member.client.send('GET', path)).body).toMatchObject({ id: grant, in_force: false });

    const background = await root.approveBackground(installation, sync, selector);
    for (const each of [path, `/plugin-background-principals/${background}`]) {
      expect((await root.read(each)).actions).toEqual([{ name: 'revoke', allowed: true, reason: null }]);
      const revoked = await sendCommand(root.client, ['DELETE', each], await root.stateOf(each));
      expect([revoked.status, revoked.body.state]).toEqual([200, 'revoked']);
      expect((await root.read(each)).actions).toMatchObject([{ name: 'revoke', allowed: false }]);
    }
  });
});

describe('a background principal', () => {
  it('has ended, with a reason, once its team was archived, and is refused for new assignments', async () => {
    const stage = await stageMember();
    const { root, sync, installation, selector } = stage;
    const id = await root.approveBackground(installation, sync, selector);
    const read = () => root.read(`/plugin-background-principals/${id}`);
    expect(await read()).toMatchObject({ state: 'active', ended: null });
    await stage.send('POST', `${teamPath(stage)}/archive`);
    expect(await read()).toMatchObject({ state: 'ended', ended: { code: 'scope_archived', at: expect.any(String) } });
    const { at } = (await read()).ended;
    await stage.send('POST', `${teamPath(stage)}/unarchive`);
    expect(await read()).toMatchObject({ state: 'ended', ended: { code: 'scope_restored', at } });
    const body = await root.assignmentOf(sync, { type: 'background_principal', id }, selector);
    const refused = await sendCommand(root.client, ['POST', '/plugin-action-grants'], body);
    expect([refused.status, refused.body.error]).toEqual([
      400,
      'subject: the place, or an owner of it, was archived, deleted or given away since, and put back: approve another background principal',
    ]);
    const list = async (query: string) =>
      (await root.read(`/plugin-background-principals?${query}`)).background_principals.map(
        ({ id }: { id: string }) => id,
      );
    const [ofPlugin, ofTeam] = [`installation_id=${installation}`, `selector_type=team&selector_id=${selector.id}`];
    expect(await list(`${ofPlugin}&state=ended`)).toEqual([id]);
    expect(await list(`${ofTeam}&state=active`)).toEqual([]);
    const second = await root.approveBackground(installation, sync, selector);
    expect(await list(`${ofTeam}&state=active`)).toEqual([second]);
    expect(await list('')).toEqual(expect.arrayContaining([id, second]));
  });
});

it('a check of an action says if the manifest of its release is not staged', async () => {
  const { root, installation, sync, member, selector } = await stageMember();
  const path = `/plugin-installations/${installation}`;
  const { digest } = encode(manifestOf('2.0.0'));
  const announced = { release: '2.0.0', digest, ...(await root.stateOf(path)) };
  expect((await root.command(['POST', `${path}/manifests`], announced)).status).toBe(200);
  await root.activate(installation, '2.0.0');
  const reason = { code: 'manifest_missing', message: expect.stringContaining('its manifest was not staged yet') };
  expect(await check(member.client, sync, selector)).toMatchObject({ allowed: false, reason });
  const review = await root.client.send('POST', `/plugin-actions/${sync}/grant-review`, { selector });
  expect(review.body).toMatchObject({ may_grant: false, reason });
  const body = await root.assignmentOf(sync, { type: 'user', id: member.id }, selector);
  const refused = await sendCommand(root.client, ['POST', '/plugin-action-grants'], body);
  expect([refused.status, (refused.headers as Record<string, string>)['x-error-code']]).toEqual([
    409,
    'plugin_manifest_missing',
  ]);
});
