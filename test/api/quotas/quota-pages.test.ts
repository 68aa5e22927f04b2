import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

/** The forms of quotas, as an administrator sends them. */
let api: TestApi;
let admin: ApiUser;
let visitor: Visitor;
let tenant: Tenant;
beforeAll(async () => {
  api = await startApi();
  admin = await api.addUser('admin');
  visitor = await signInVisitor(api, admin);
  tenant = await makeTenant(api);
});
afterAll(() => api?.close());

const quotaOf = async (team: string) => (await admin.get(`/admin/quotas/team/${team}`)).body;
const pathOf = (team: string, form = '') => `/admin/quotas/team/${team}${form}`;

it('the form for a new quota sets the limits of the selected owner, and its page shows them', async () => {
  const { team } = tenant;
  const form = await visitor.get('/admin/quotas/new');
  for (const shown of ['Installation', `value="${team}"`, 'Runs per day (UTC)', 'such as 2 GiB'])
    expect(form.text).toContain(shown);
  const sent = await visitor.submit('/admin/quotas/new', {
    owner: team,
    'limits.queued_runs': '2',
    'limits.instances': '',
  });
  expect([sent.status, sent.location], sent.text).toEqual([303, `${pathOf(team)}?done=saved`]);
  expect((await quotaOf(team)).limits).toEqual({ queued_runs: 2 });
  const again = await visitor.submit('/admin/quotas/new', { owner: team, 'limits.instances': '1' });
  expect([again.status, again.text.includes('It already has a quota')]).toEqual([400, true]);
  expect((await quotaOf(team)).limits).toEqual({ queued_runs: 2 });
  const page = await visitor.get(`${pathOf(team)}?done=saved`);
  expect(page.text).toContain('Limits saved.');
  expect(page.text).toContain('0 of 2');
});

it('the form for a new quota is refused without any limit', async () => {
  const { team } = await makeTenant(api);
  const sent = await visitor.submit('/admin/quotas/new', { owner: team, 'limits.instances': ' ' });
  expect([sent.status, sent.text.includes('Fill in at least one limit')]).toEqual([400, true]);
  expect((await quotaOf(team)).revision).toBeNull();
});

it('the form of a quota says that empty fields exempt a team from the default quotas, and can be saved with them', async () => {
  const { team } = await makeTenant(api);
  const exempts = 'If all fields are empty, the quota exempts the team from the default quotas of the settings.';
  expect((await visitor.get(pathOf(team, '/edit'))).text).toContain(exempts);
  const ofInstallation = await visitor.get('/admin/quotas/installation/global/edit');
  expect(ofInstallation.text).toContain('Limits: Installation');
  expect(ofInstallation.text).not.toContain('exempts');
  expect((await visitor.get('/admin/quotas/new')).text).toContain('replaces the default quotas');
  const sent = await visitor.submit(pathOf(team, '/edit'), { expected_revision: '0', 'limits.instances': '' });
  expect(sent.location, sent.text).toBe(`${pathOf(team)}?done=saved`);
  expect((await quotaOf(team)).limits).toEqual({});
});

it('the page of a quota links to the organization, the team or the environment that it limits', async () => {
  const { organization, team, environment } = await makeTenant(api);
  const linked = async (path: string) => {
    const { status, text } = await visitor.get(`/admin/quotas/${path}`);
    expect(status).toBe(200);
    return text;
  };
  expect(await linked(`organization/${organization}`)).toMatch(
    new RegExp(`Limits the organization <a class="foreign" href="[^"]*${organization}"`),
  );
  expect(await linked(`team/${team}`)).toMatch(new RegExp(`Limits the team <a class="foreign" href="[^"]*${team}"`));
  expect(await linked(`environment/${environment}`)).toContain(`href="/environments/${environment}"`);
  expect(await linked('installation/global')).not.toContain('Limits the');
});

it('a limit of bytes is entered and shown with a unit', async () => {
  const { team } = await makeTenant(api);
  const typed = { owner: team, 'limits.state_bytes': '2 GiB', 'limits.log_bytes': '1.5 mib' };
  expect((await visitor.submit('/admin/quotas/new', typed)).status).toBe(303);
  expect((await quotaOf(team)).limits).toEqual({ state_bytes: 2 * 2 ** 30, log_bytes: 1.5 * 2 ** 20 });
  const form = await visitor.get(pathOf(team, '/edit'));
  for (const shown of ['value="2 GiB"', 'value="1536 KiB"']) expect(form.text).toContain(shown);
});

it('every limit that is not a whole number has a problem at its field, with what is accepted', async () => {
  const wrong = { 'limits.instances': '-1', 'limits.log_bytes': '1e20', 'limits.api_keys': '1.5' };
  const sent = await visitor.submit('/admin/quotas/new', { owner: 'global', ...wrong });
  expect(sent.status).toBe(400);
  expect(sent.text.match(/nter a whole number from 0 on/g)?.length).toBeGreaterThanOrEqual(3);
  for (const value of Object.values(wrong)) expect(sent.text).toContain(`value="${value}"`);
});

it('the form for a new quota names a missing owner and every wrong limit at once', async () => {
  const typed = { 'limits.instances': '-1', 'limits.log_bytes': 'many' };
  const wrongLimits = (text: string) => text.match(/<\/a>: Enter a whole number from 0 on/g) ?? [];
  const { status, text } = await visitor.submit('/admin/quotas/new', typed);
  expect(status).toBe(400);
  expect(text).toMatch(/>Owner<\/a>: Choose the owner\./);
  expect(wrongLimits(text)).toHaveLength(2);
  // The operation would refuse the same limits with another message.
  const withOwner = await visitor.submit('/admin/quotas/new', { owner: 'global', ...typed });
  expect(wrongLimits(withOwner.text)).toHaveLength(2);
  expect(withOwner.text).not.toContain('must be a number');
});

it.each([
  ['without an owner', { 'limits.queued_runs': '2' }, 'Choose the owner.'],
  ['with a limit that is no number', { owner: 'global', 'limits.queued_runs': 'many' }, 'many'],
])('the form for a new quota %s is shown again with what was typed', async (_what, typed, shown) => {
  const sent = await visitor.submit('/admin/quotas/new', typed);
  expect(sent.status).toBe(400);
  expect(sent.text).toContain('notice-problem');
  expect(sent.text).toContain(shown);
  expect((await admin.get('/admin/quotas/installation/global')).body.revision).toBeNull();
});

it('the form of the limits is refused if somebody has made or changed the quota since it was opened', async () => {
  const { team } = await makeTenant(api);
  const typed = { expected_revision: '0', 'limits.queued_runs': '7' };
  await admin.put(`/admin/quotas/team/${team}`, { limits: { queued_runs: 3 } });
  const sent = await visitor.submit(pathOf(team, '/edit'), typed);
  expect([sent.status, sent.text.includes('Another person changed this')]).toEqual([409, true]);
  expect((await quotaOf(team)).limits).toEqual({ queued_runs: 3 });
  const again = await visitor.submit(pathOf(team, '/edit'), { ...typed, expected_revision: '1' });
  expect(again.location).toBe(`${pathOf(team)}?done=saved`);
  expect((await quotaOf(team)).limits).toEqual({ queued_runs: 7 });
});

it('the form that removes a quota removes only the one that was shown', async () => {
  const { team } = await makeTenant(api);
  await admin.put(`/admin/quotas/team/${team}`, { limits: { queued_runs: 3 } });
  expect((await visitor.get(pathOf(team, '/clear'))).text).toContain('name="expected_revision" value="1"');
  await admin.put(`/admin/quotas/team/${team}`, { limits: { queued_runs: 4 } });
  const stale = await visitor.submit(pathOf(team, '/clear'), { expected_revision: '1' });
  expect([stale.status, (await quotaOf(team)).limits]).toEqual([409, { queued_runs: 4 }]);
  const removed = await visitor.submit(pathOf(team, '/clear'), { expected_revision: '2' });
  expect(removed.location).toBe('/admin/quotas?done=cleared');
  expect((await visitor.get('/admin/quotas?done=cleared')).text).toContain('Quota removed.');
  expect((await quotaOf(team)).revision).toBeNull();
});
