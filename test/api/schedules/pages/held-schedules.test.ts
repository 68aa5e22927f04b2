import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#domain/shared/ids.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

let api: TestApi;
let tenant: Tenant;
let template: string;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  template = (await tenant.owner.make('/registry/templates', { name: 'Held', team_id: tenant.team })).id;
  const spec = { executor: { kind: 'command', apply: [{ name: 'go', run: ['true'] }] } };
  await tenant.owner.make(`/registry/templates/${template}/versions`, { version: '1.0.0', spec });
});
afterAll(() => api?.close());

async function addAuthor(): Promise<ApiUser> {
  const author = await api.addUser('maintainer');
  await join(tenant, author, 'member', 'admin');
  return author;
}

async function save(author: ApiUser, name: string): Promise<void> {
  const run = { template_id: template, environment_id: tenant.environment, instance: `i-${newId()}` };
  await author.make('/schedules', { team_id: tenant.team, name, schedule: { every: '6h' }, work: { run } });
}

/** Follows the link with the number of schedules, and returns the page to which it leads. */
async function follow(visitor: Visitor, page: string, says: RegExp, holder = 'credential_id'): Promise<string> {
  const { text } = await visitor.get(page);
  const found = new RegExp(`<a href="(/schedules\\?${holder}=[^"]+)">${says.source}`).exec(text);
  expect(found, text).not.toBeNull();
  return (await visitor.get(found?.[1]?.replaceAll('&amp;', '&') ?? '')).text;
}

describe('the profile page', () => {
  it('says how many schedules start work with each key, and links to them', async () => {
    const author = await addAuthor();
    const visitor = await signInVisitor(api, author);
    expect(await visitor.page('/profile')).not.toContain('/schedules?');
    await save(author, 'Saved by key');
    await save(await addAuthor(), 'Saved by somebody else');
    const list = await follow(
      visitor,
      '/profile',
      /1 schedule<\/a> was saved with it, and starts nothing when it ends/,
    );
    expect(list).toContain('Saved by key');
    expect(list).not.toContain('Saved by somebody else');
    await save(author, 'Another');
    await follow(visitor, '/profile', /2 schedules<\/a> were saved with it, and start nothing when it ends/);
    const [key] = (await author.get('/profile/api-keys')).body.api_keys;
    const rotation = await visitor.get(`/profile/api-keys/${key.id}/rotate`);
    expect(rotation.text).toMatch(/2 schedules<\/a> were saved with this key/);
  });

  it('says how many schedules were saved in each session, and that they continue when it ends', async () => {
    const author = await addAuthor();
    const visitor = await signInVisitor(api, author);
    await save(await api.signIn(author), 'Saved in a session');
    const list = await follow(visitor, '/profile', /1 schedule<\/a> was saved in it, and goes on when it ends/);
    expect(list).toContain('Saved in a session');
  });
});

it('the pages of a service account say how many schedules start work under its authority, and with each of its keys', async () => {
  const visitor = await signInVisitor(api, tenant.owner);
  const account = await tenant.owner.make('/service-accounts', {
    name: 'Nightly',
    role: 'maintainer',
    owner: { team_id: tenant.team },
  });
  const path = `/service-accounts/${account.id}`;
  const issued = await tenant.owner.post(`${path}/api-keys`, { name: 'ci' });
  await save(new ApiUser(api, { 'x-api-key': issued.body.key }, { id: account.id, email: '' }), 'Saved by an account');
  expect(await follow(visitor, path, /1 schedule<\/a>/, 'authority_id')).toContain('Saved by an account');
  expect(await follow(visitor, path, /1 schedule<\/a>/)).toContain('Saved by an account');
  const key = issued.body.api_key.id;
  expect((await visitor.get(`${path}/api-keys/${key}/revoke`)).text).toMatch(/1 schedule<\/a> was saved with this key/);
  for (const form of ['disable', 'delete', 'transfer'])
    expect((await visitor.get(`${path}/${form}`)).text).toMatch(/1 schedule<\/a> runs as this account/);
});

describe('a member whose schedules run as them', () => {
  it('is shown with these schedules in the forms that change or end the membership', async () => {
    const author = await addAuthor();
    const visitor = await signInVisitor(api, tenant.owner);
    const ofTeam = `/organizations/${tenant.organization}/teams/${tenant.team}/members/${author.id}`;
    const ofOrganization = `/organizations/${tenant.organization}/members/${author.id}`;
    expect(await visitor.page(`${ofTeam}/remove`)).not.toContain('These schedules run as this member');
    await save(author, 'Sweep <b>');
    for (const path of [`${ofTeam}/remove`, ofTeam, `${ofOrganization}/remove`, ofOrganization])
      expect(await visitor.page(path)).toMatch(
        /These schedules run as this member, and cannot start[\s\S]*<a class="foreign" href="\/schedules\/[^"]+">Sweep &lt;b&gt;<\/a>/,
      );
  });

  it('leaves schedules that say that they cannot start, and how somebody else can save them', async () => {
    const author = await addAuthor();
    const visitor = await signInVisitor(api, tenant.owner);
    await save(author, 'Left behind');
    const [{ id } = { id: '' }] = await api.rows<{ id: string }>(`select id from schedules where name = 'Left behind'`);
    const before = await visitor.page(`/schedules/${id}`);
    expect(before).not.toContain('may no longer start the work');
    await api.rows('delete from team_members where principal_id = ?', [author.id]);
    const page = await visitor.page(`/schedules/${id}`);
    expect(page).toMatch(
      new RegExp(
        `may no longer start the work: have a person who may start it save the work\\. <a href="/schedules/${id}/work">Change work</a> makes it run as you`,
      ),
    );
    expect(page).toContain('None that can start the work');
    expect(await visitor.page(`/schedules/${id}/edit`)).toMatch(
      /The work goes on to run as [\s\S]*Change work<\/a> makes it run as you/,
    );
  });
});

describe('schedules of teams that a visitor cannot read', () => {
  it('are neither counted nor listed', async () => {
    const author = await addAuthor();
    await save(author, 'Out of sight');
    const visitor = await signInVisitor(api, author);
    await api.rows('delete from team_members where principal_id = ?', [author.id]);
    expect(await visitor.page('/profile')).not.toContain('/schedules?');
    expect(await visitor.page(`/schedules?authority_id=${author.id}`)).not.toContain('Out of sight');
  });
});
