import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acquaint, join, makeTenant } from '#test/support/access/tenancy.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

const idIn = (path: string | undefined, kind: string) =>
  new RegExp(`${kind}/([0-9a-f-]{36})`).exec(path ?? '')?.[1] ?? '';

describe('the pages of organizations, teams and projects', () => {
  test('create one of each, with names as text', async () => {
    const owner = await api.addUser('maintainer');
    const visitor = await signInVisitor(api, owner);
    const made = await visitor.submit('/organizations/new', { name: 'North <b>', slug: '' });
    expect(made.status, made.text).toBe(303);
    const orgID = idIn(made.location, 'organizations');
    const page = await visitor.get(made.location ?? '');
    expect(page.text).toContain('North &lt;b&gt;');
    expect(page.text).toContain('Organization created.');
    const team = await visitor.submit(`/organizations/${orgID}/teams/new`, { name: 'Core', slug: '' });
    const teamId = idIn(team.location, 'teams');
    const project = await visitor.submit('/projects/new', {
      team_id: teamId,
      name: 'Web',
      slug: '',
      description: 'All',
    });
    expect(project.status, project.text).toBe(303);
    expect((await visitor.get(`/organizations/${orgID}/teams/${teamId}`)).text).toContain('Web');
    const inOrganization = await visitor.get(`/projects?organization_id=${orgID}`);
    expect(inOrganization.text).toContain(project.location?.split('?')[0]);
  });

  test('keep what was typed, and show the problem at its field', async () => {
    const { owner } = await makeTenant(api);
    const refused = await (await signInVisitor(api, owner)).submit('/organizations/new', {
      name: 'Kept',
      slug: 'NOT A SLUG',
    });
    expect(refused.status).toBe(400);
    expect(refused.text).toContain('value="Kept"');
    expect(refused.text).toContain('id="field-slug-problem"');
    expect(refused.text).toContain('<title>Error: New organization');
  });

  test('do not overwrite what somebody else has changed since the form was opened', async () => {
    const { owner, organization } = await makeTenant(api);
    const visitor = await signInVisitor(api, owner);
    await owner.patch(`/organizations/${organization}`, { name: 'Changed meanwhile' });
    const change = { name: 'Mine', slug: '', expected_revision: '1' };
    const stale = await visitor.submit(`/organizations/${organization}/edit`, change);
    expect(stale.status).toBe(409);
    expect(stale.text).toContain('Another person changed this after you opened the form');
    expect((await owner.get(`/organizations/${organization}`)).body.name).toBe('Changed meanwhile');
  });

  test('delete only what is empty, and only after its name was typed', async () => {
    const { owner, organization, teamPath, project, environment } = await makeTenant(api);
    const visitor = await signInVisitor(api, owner);
    const asked = await visitor.get(`${teamPath}/delete`);
    expect(asked.text).toContain(`href="/projects/${project}"`);
    expect(asked.text).toContain('delete or transfer them first');
    expect(asked.text).not.toContain('name="confirmation"');
    const blocked = await visitor.submit(`${teamPath}/delete`, { confirmation: 'Core', key: randomUUID() });
    expect(blocked.status).toBe(409);
    expect(blocked.text).toContain('delete or transfer them first');
    await owner.send('DELETE', `/environments/${environment}`, undefined, { 'idempotency-key': randomUUID() });
    const wrong = await visitor.submit(`/projects/${project}/delete`, { confirmation: 'network', key: randomUUID() });
    expect([wrong.status, wrong.text.includes('Is another name: type Network exactly.')]).toEqual([400, true]);
    const deleted = await visitor.submit(`/projects/${project}/delete`, { confirmation: 'Network', key: randomUUID() });
    expect([deleted.status, deleted.location]).toEqual([303, '/projects?done=deleted']);
    await visitor.submit(`${teamPath}/delete`, { confirmation: 'Core', key: randomUUID() });
    const path = `/organizations/${organization}/delete`;
    const { name } = (await owner.get(`/organizations/${organization}`)).body;
    const gone = await visitor.submit(path, { confirmation: name, key: randomUUID() });
    expect([gone.status, gone.location]).toEqual([303, '/organizations?done=deleted']);
    expect((await visitor.get(path)).status).toBe(404);
  });

  test('show the archived environments of a project separately', async () => {
    const { owner, project, environment } = await makeTenant(api);
    const visitor = await signInVisitor(api, owner);
    const link = `href="/environments/${environment}"`;
    expect((await visitor.get(`/projects/${project}`)).text).toContain(link);
    expect((await owner.post(`/environments/${environment}/archive`)).status).toBe(200);
    expect(await visitor.page(`/projects/${project}`)).not.toContain(link);
    expect((await visitor.get(`/projects/${project}?archived=true`)).text).toContain(link);
  });

  test('archive and unarchive, and offer the other of the two', async () => {
    const { owner, project } = await makeTenant(api);
    const visitor = await signInVisitor(api, owner);
    expect((await visitor.get(`/projects/${project}`)).text).toContain(`/projects/${project}/archive`);
    expect((await visitor.submit(`/projects/${project}/archive`, {})).status).toBe(303);
    const page = await visitor.get(`/projects/${project}`);
    expect(page.text).toContain('Archived');
    expect(page.text).toContain(`href="/projects/${project}/unarchive"`);
    expect((await visitor.submit(`/projects/${project}/unarchive`, {})).status).toBe(303);
  });

  test('disable what a member may not do, with the reason and without a form', async () => {
    const tenant = await makeTenant(api);
    const member = await api.addUser('maintainer');
    await join(tenant, member, 'member', 'member');
    const visitor = await signInVisitor(api, member);
    const page = await visitor.get(`/organizations/${tenant.organization}/edit`);
    expect(page.text).toContain('Permission denied: this needs the organization role owner.');
    expect(page.text).not.toContain(`href="/organizations/${tenant.organization}/delete"`);
    const asked = await visitor.get(`/organizations/${tenant.organization}/delete`);
    expect(asked.text).not.toContain('name="confirmation"');
    const sent = await visitor.submit(`/organizations/${tenant.organization}/archive`, {});
    expect(sent.status).toBe(403);
  });

  test('answer 404 to strangers', async () => {
    const { organization, teamPath, project } = await makeTenant(api);
    const visitor = await signInVisitor(api, await api.addUser('operator'));
    const paths = [`/organizations/${organization}`, teamPath, `/projects/${project}`, `/projects/${project}/delete`];
    for (const path of [...paths, `${teamPath}/members`, `${teamPath}/invitations`])
      expect([path, (await visitor.get(path)).status]).toEqual([path, 404]);
  });

  test('refuse forms of other sites', async () => {
    const { owner, project } = await makeTenant(api);
    const visitor = await signInVisitor(api, owner);
    const sent = await visitor.submit(`/projects/${project}/archive`, {}, { 'sec-fetch-site': 'cross-site' });
    expect(sent.status).toBe(403);
    expect((await owner.get(`/projects/${project}`)).body.archived_at).toBeNull();
  });

  test('transfer a project to another team, and an organization to a member named by an address', async () => {
    const tenant = await makeTenant(api);
    const { owner, organization, project } = tenant;
    const visitor = await signInVisitor(api, owner);
    const other = await owner.make(`/organizations/${organization}/teams`, { name: 'Other' });
    const { revision } = (await owner.get(`/projects/${project}`)).body;
    const form = { team_id: other.id, confirmation: 'Network', expected_revision: String(revision) };
    expect((await visitor.submit(`/projects/${project}/transfer`, form)).status).toBe(303);
    expect((await owner.get(`/projects/${project}`)).body.team_id).toBe(other.id);
    const heir = await api.addUser('maintainer');
    await join(tenant, heir, 'member');
    const { name, revision: latest } = (await owner.get(`/organizations/${organization}`)).body;
    const path = `/organizations/${organization}/transfer`;
    const typed = { confirmation: name, expected_revision: String(latest) };
    const unknown = await visitor.submit(path, { ...typed, new_owner_user_id: 'nobody@example.com' });
    expect([unknown.status, unknown.text.includes('id="field-new_owner_user_id-problem"')]).toEqual([400, true]);
    expect((await visitor.submit(path, { ...typed, new_owner_user_id: heir.email })).status).toBe(303);
    expect((await heir.get(`/organizations/${organization}/members/${heir.id}`)).body.role).toBe('owner');
  });
});

describe('the pages of members', () => {
  test('add, change and remove somebody, and let people leave', async () => {
    const tenant = await makeTenant(api);
    const { owner, organization, teamPath } = tenant;
    const visitor = await signInVisitor(api, owner);
    const joiner = await api.addUser('maintainer');
    await acquaint(owner, joiner);
    const path = `/organizations/${organization}/members`;
    expect((await visitor.submit(path, { user_id: joiner.id, role: 'member' })).status).toBe(303);
    expect((await visitor.get(`${teamPath}/members`)).text).toContain(`<option value="${joiner.email}"`);
    expect((await visitor.submit(`${teamPath}/members`, { user_id: joiner.email, role: 'viewer' })).status).toBe(303);
    const changed = { role: 'admin', expected_revision: '1' };
    expect((await visitor.submit(`${teamPath}/members/${joiner.id}`, changed)).status).toBe(303);
    const last = await visitor.submit(`${teamPath}/members/${owner.id}/remove`, {});
    expect([
      last.status,
      last.text.includes('this is the last owner') || last.text.includes('This is the last owner'),
    ]).toEqual([409, true]);
    expect((await visitor.submit(`${teamPath}/members/${joiner.id}/remove`, {})).status).toBe(303);
    const leaver = await signInVisitor(api, joiner);
    expect((await leaver.get(`${path}/${joiner.id}/remove`)).text).toContain('Leave organization');
    expect((await leaver.submit(`${path}/${joiner.id}/remove`, {})).location).toBe('/organizations');
    expect((await leaver.get(`/organizations/${organization}`)).status).toBe(404);
  });

  test('do not change the role of a member who is added again', async () => {
    const tenant = await makeTenant(api);
    const visitor = await signInVisitor(api, tenant.owner);
    const opal = await api.addUser('maintainer', 'Opal');
    await join(tenant, opal, 'admin', 'admin');
    const ofOrganization = `/organizations/${tenant.organization}/members`;
    const setup = `${tenant.teamPath}/setup/people`;
    for (const path of [ofOrganization, `${tenant.teamPath}/members`, setup]) {
      const again = await visitor.submit(path, { user_id: opal.email, role: 'member' });
      expect([again.status, again.text.includes('Opal, who is a member already with the role admin')], path).toEqual([
        400,
        true,
      ]);
      const same = await visitor.submit(path, { user_id: opal.email, role: 'admin' });
      expect(same.status, path).toBe(303);
    }
    for (const owner of [`/organizations/${tenant.organization}`, tenant.teamPath])
      expect((await tenant.owner.get(`${owner}/members/${opal.id}`)).body.role, owner).toBe('admin');
  });

  test('find a user by a part of the name and ask if there are several, with the same message for strangers as for nobody', async () => {
    const tenant = await makeTenant(api);
    const visitor = await signInVisitor(api, tenant.owner);
    const [ann, anna] = [await api.addUser('maintainer', 'Ann Quill'), await api.addUser('maintainer', 'Ann Quillon')];
    for (const user of [ann, anna]) await join(tenant, user, 'member');
    const path = `${tenant.teamPath}/members`;
    const typed = { user_id: 'quill', role: 'member' };
    const asked = await visitor.submit(path, typed);
    expect([asked.status, asked.text.includes('choose who you mean below')]).toEqual([400, true]);
    const only = await visitor.submit(path, { ...typed, user_id: 'quillo' });
    expect(only.text).toContain('atches Ann Quillon alone, who is chosen below');
    expect(only.text).toMatch(new RegExp(`value="${anna.id}"[^>]*checked`));
    for (const { id } of [ann, anna]) expect(asked.text).toContain(`name="user_id_of_these" value="${id}"`);
    expect((await visitor.submit(path, { ...typed, user_id_of_these: anna.id })).status).toBe(303);
    expect((await visitor.submit(path, { ...typed, user_id: 'ANN QUILL' })).status).toBe(303);
    for (const user of [ann, anna]) expect((await user.get(`${tenant.teamPath}/members`)).status).toBe(200);
    const outside = await api.addUser('maintainer', 'Bea Outside');
    const admin = await signInVisitor(api, await api.addUser('admin'));
    const early = await admin.submit(path, { ...typed, user_id: 'Bea' });
    expect([early.status, early.text.includes('Bea Outside is not yet a member of the organization')]).toEqual([
      400,
      true,
    ]);
    const members = `/organizations/${tenant.organization}/members`;
    const prefilled = `user_id=${outside.id}&amp;team=${tenant.team}&amp;team_role=member#add`;
    const setUp = await admin.submit(`${tenant.teamPath}/setup/people`, { ...typed, user_id: 'Bea' });
    for (const { status, text } of [early, setUp])
      expect([status, text.includes(`href="${members}?${prefilled}"`)]).toEqual([400, true]);
    const form = await admin.get(`${members}?user_id=${outside.id}&team=${tenant.team}&team_role=admin`);
    expect(form.text).toContain(`value="${outside.email}"`);
    const added = await admin.submit(members, {
      user_id: outside.email,
      role: 'member',
      team: tenant.team,
      team_role: 'admin',
    });
    expect(added.location).toContain(`added=${outside.id}&next_team=${tenant.team}&next_role=admin`);
    const next = `${path}?user_id=${outside.id}&amp;role=admin#add`;
    expect((await admin.get(added.location ?? '')).text).toContain(`href="${next}">Add to the team`);
    const last = await admin.get(next.replace('&amp;', '&').replace('#add', ''));
    expect(last.text).toMatch(/name="role" value="admin"[^>]*checked/);
    expect(last.text).toContain(`value="${outside.email}"`);
    expect((await visitor.submit(path, { ...typed, user_id: outside.email })).text).not.toContain('Bea Outside is');
    const stranger = await api.addUser('maintainer', 'Zoe Strange');
    for (const nobody of [stranger.email, 'Zoe Strange', 'nobody@example.com']) {
      const refused = await visitor.submit(path, { ...typed, user_id: nobody });
      expect([refused.status, refused.text.includes('nobody in your organizations')], nobody).toEqual([400, true]);
    }
  });
});
