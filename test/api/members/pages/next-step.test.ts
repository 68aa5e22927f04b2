import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acquaint, join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { signInVisitor } from '#test/support/browser/signed-in.ts';
import type { Visitor } from '#test/support/browser/visitor.ts';

/** The next steps that the page of an organization's members offers after a user was added. */

let api: TestApi;
let tenant: Tenant;
let visitor: Visitor;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  visitor = await signInVisitor(api, tenant.owner);
});
afterAll(() => api?.close());

const members = () => `/organizations/${tenant.organization}/members`;

async function addAcquainted(name: string): Promise<ApiUser> {
  const user = await api.addUser('maintainer', name);
  await acquaint(tenant.owner, user);
  return user;
}

/** Adds a user with the form. Returns the page that follows. */
async function add(user: ApiUser, fields: Record<string, string> = {}): Promise<string> {
  const { status, location, text } = await visitor.submit(members(), {
    user_id: user.email,
    role: 'member',
    ...fields,
  });
  expect(status, text).toBe(303);
  return visitor.page(location ?? '');
}

const offer = 'Add to the team';

describe('a name that matches nobody', () => {
  it('says how to find a service account of that name, which cannot be invited', async () => {
    const other = await api.addUser('maintainer');
    await other.make('/service-accounts', { name: 'CI', role: 'requester', owner: { user_id: other.id } });
    const team = `/organizations/${tenant.organization}/teams/${tenant.team}/members`;
    const refused = (path: string) => visitor.submit(path, { user_id: 'CI', role: 'member' });
    expect((await refused(members())).text).toContain('is found only by those who manage it');
    expect((await refused(team)).text).toContain('is found once it is a member of the organization');
  });
});

describe('the page after a user got a role in a team', () => {
  it('says if the platform role prevents reviews that the role in the team would allow', async () => {
    const requester = await api.addUser('requester');
    const maintainer = await api.addUser('maintainer');
    for (const user of [requester, maintainer]) await join(tenant, user, 'member', 'viewer');
    const path = `/organizations/${tenant.organization}/teams/${tenant.team}/members`;
    const save = async ({ id }: ApiUser, role: string) => {
      const { body } = await tenant.owner.get(`${path}/${id}`);
      const fields = { role, expected_revision: String(body.revision) };
      const { location, text } = await visitor.submit(`${path}/${id}`, fields);
      expect(location, text).toBeDefined();
      return visitor.page(location ?? '');
    };
    const limited = 'The platform role of this member does not let them review runs';
    expect(await save(requester, 'member')).not.toContain(limited);
    expect(await save(requester, 'admin')).toContain(limited);
    expect(await save(maintainer, 'admin')).not.toContain(limited);
    const other = await api.addUser('requester');
    await join(tenant, other, 'member');
    const added = await visitor.submit(path, { user_id: other.email, role: 'admin' });
    expect(await visitor.page(added.location ?? '')).toContain(limited);
  });
});

describe('the page after a user was added to an organization', () => {
  it("offers the organization's teams if the new member is in none of them", async () => {
    const page = await add(await addAcquainted('Nina New'));
    expect(page).toContain(offer);
    expect(page).toContain('is a member of the organization, but of none of its teams yet');
  });

  it('selects the role in its address, except owner', async () => {
    const chosen = async (role: string) =>
      /name="role" value="([a-z]+)"[^>]* checked/.exec(await visitor.page(`${members()}?role=${role}`))?.[1];
    expect([await chosen('admin'), await chosen('owner')]).toEqual(['admin', 'member']);
  });

  it('offers no teams for an admin, who sees all teams', async () => {
    expect(await add(await addAcquainted('Ada Admin'), { role: 'admin' })).not.toContain(offer);
  });

  it('offers no teams for a user who is already in a team', async () => {
    const user = await addAcquainted('Tom Team');
    await join(tenant, user, 'member', 'viewer');
    expect(await add(user)).not.toContain(offer);
  });

  it('offers no teams once the member has joined a team', async () => {
    const user = await addAcquainted('Lena Later');
    await add(user);
    const address = `${members()}?added=${user.id}`;
    expect(await visitor.page(address)).toContain(offer);
    await join(tenant, user, 'member', 'viewer');
    expect(await visitor.page(address)).not.toContain(offer);
  });

  it('offers no teams to a visitor who may not add members', async () => {
    const [reader, user] = [await api.addUser('maintainer'), await addAcquainted('Olaf Other')];
    await join(tenant, reader, 'member');
    await add(user);
    const page = await (await signInVisitor(api, reader)).page(`${members()}?added=${user.id}`);
    expect(page).not.toContain(offer);
  });

  it('does not use the team of one added user in the form for the next', async () => {
    const page = await add(await addAcquainted('Wanda Wanted'), { team: tenant.team, team_role: 'admin' });
    expect(page).toContain(offer);
    expect(page).toMatch(/<input[^>]*name="team"[^>]*value=""/);
    expect(page).toMatch(/<input[^>]*name="team_role"[^>]*value=""/);
  });

  it('offers only the team for which the user was added if there are more than fifty teams', async () => {
    await api.rows(
      `insert into teams (id, organization_id, name, slug, created_at)
       select gen_random_uuid(), ?, 'Team ' || n, 'team-' || n, now() from generate_series(1, 60) n`,
      [tenant.organization],
    );
    const { id } = await tenant.owner.make(`/organizations/${tenant.organization}/teams`, { name: 'Zulu' });
    const user = await addAcquainted('Zoe Zulu');
    const page = await add(user, { team: id, team_role: 'viewer' });
    expect([...page.matchAll(/Add to the team <span class="foreign">([^<]*)/g)].map(([, name]) => name)).toEqual([
      'Zulu',
    ]);
    expect(page).toContain(`teams/${id}/members?user_id=${user.id}&amp;role=viewer#add`);
    expect(await add(await addAcquainted('Alma All'))).toContain('All teams</a>');
  });
});
