import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { operations } from '#api/operations.ts';
import { catalogueOf } from '#api/pipeline/catalogue.ts';
import { BindingConnection } from '#database/connection.ts';
import { newId } from '#domain/shared/ids.ts';
import { permissionsOf } from '#test/support/access/permission-table.ts';
import { canI, codeOf, reviewOf } from '#test/support/access/reviews.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';

let api: TestApi;
let tenant: Tenant;
let root: ApiUser;
let requester: ApiUser;
beforeAll(async () => {
  api = await startApi();
  tenant = await makeTenant(api);
  root = await api.addUser('admin');
  requester = await api.addUser('requester');
});
afterAll(() => api?.close());

const project = () => ({ name: tenant.project, team_id: tenant.team });
const missing = newId();

describe('an access review', () => {
  it('answers allowed with the reason, and nothing else', async () => {
    const answer = await tenant.owner.post(
      '/auth/can-i',
      reviewOf({ resource: 'projects', verb: 'get', ...project() }),
    );
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      status: { allowed: true, denied: false, reason: { code: 'allowed', message: 'allowed' } },
    });
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('answers denied if a permission is missing, without looking up the target', async () => {
    const denied = await canI(requester, 'update', 'projects', project());
    expect(denied).toEqual({
      allowed: false,
      denied: true,
      reason: {
        code: 'permission_denied',
        message: 'permission denied: this needs project:write (the platform role maintainer)',
      },
    });
    expect(await canI(requester, 'update', 'projects', { name: missing, team_id: missing })).toEqual(denied);
  });

  it('answers denied if a team action is missing on a target that the caller may read', async () => {
    const viewer = await api.addUser('maintainer');
    await join(tenant, viewer, 'member', 'viewer');
    expect(await codeOf(viewer, 'get', 'projects', project())).toBe('allowed');
    expect((await canI(viewer, 'update', 'projects', project())).reason).toEqual({
      code: 'permission_denied',
      message:
        'permission denied: this needs team.metadata.write (the team role admin) in the team that owns the project',
    });
  });

  it('answers the same bytes for missing, hidden and another team’s targets', async () => {
    const other = await makeTenant(api);
    const asked = [
      [requester, project()],
      [requester, { name: missing, team_id: tenant.team }],
      [requester, { name: missing, team_id: missing }],
      [tenant.owner, { name: missing, team_id: tenant.team }],
      [tenant.owner, { name: tenant.project, team_id: missing }],
      [tenant.owner, { name: tenant.project, team_id: other.team }],
      [tenant.owner, { name: other.project, team_id: tenant.team }],
      [tenant.owner, { name: other.project, team_id: other.team }],
      [root, { name: tenant.project, team_id: other.team }],
      [root, { name: missing, team_id: tenant.team }],
      [root, { name: 'no-id-at-all', team_id: tenant.team }],
    ] as const;
    const answers = await Promise.all(
      asked.map(([caller, about]) =>
        caller.post('/auth/can-i', reviewOf({ resource: 'projects', verb: 'get', ...about })),
      ),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.body.status).toMatchObject({ denied: true, reason: { code: 'resource_not_found_or_denied' } });
  });

  it('decides about a team’s collection by the team, even if the collection is empty', async () => {
    const outsider = await api.addUser('maintainer');
    const team_id = tenant.team;
    for (const [resource, verb] of [
      ['projects', 'list'] as const,
      ['projects', 'create'] as const,
      ['environments', 'create'] as const,
      ['runs', 'list'] as const,
      ['runs', 'create'] as const,
      ['templates', 'create'] as const,
      ['instances', 'list'] as const,
      ['environments', 'list'] as const,
    ]) {
      expect(await codeOf(tenant.owner, verb, resource, { team_id }), resource).toBe('allowed');
      expect(await codeOf(outsider, verb, resource, { team_id }), resource).toBe('resource_not_found_or_denied');
      expect(await codeOf(root, verb, resource, { team_id: missing })).toBe('resource_not_found_or_denied');
    }
  });

  it('denies creating runs to a viewer of the team, as the operation does', async () => {
    const viewer = await api.addUser('maintainer');
    await join(tenant, viewer, 'member', 'viewer');
    expect(await codeOf(viewer, 'create', 'runs', { team_id: tenant.team })).toBe('permission_denied');
    expect(await codeOf(viewer, 'list', 'runs', { team_id: tenant.team })).toBe('allowed');
  });

  it.each([
    ['connections', '/admin/connections', { kind: 'generic', credentials: { variables: { TOKEN: 'x' } } }],
    ['webhooks', '/admin/webhooks', { url: 'https://203.0.113.9/hook', events: ['*'] }],
    [
      'notification_channels',
      '/admin/notification-channels',
      { kind: 'email', config: { recipients: ['ana@example.com'] } },
    ],
    ['variable_sets', '/variable-sets', {}],
  ])(
    'decides about creating %s for the team in the review, else for the installation',
    async (resource, path, body) => {
      const viewer = await api.addUser('maintainer');
      await join(tenant, viewer, 'member', 'viewer');
      const outsider = await api.addUser('maintainer');
      const { team: team_id } = tenant;
      const ask = (caller: ApiUser, about: object) => codeOf(caller, 'create', resource, about);
      const create = async (caller: ApiUser, owner: object) =>
        (await caller.post(path, { name: `reviewed-${newId()}`, ...body, ...owner })).status;
      expect(await ask(tenant.owner, { team_id })).toBe('allowed');
      // The command of an authorized caller may still be refused for the address of a webhook.
      expect([201, 422]).toContain(await create(tenant.owner, { team_id }));
      expect(await ask(viewer, { team_id })).toBe('permission_denied');
      expect(await create(viewer, { team_id })).toBe(403);
      expect(await ask(outsider, { team_id })).toBe('resource_not_found_or_denied');
      expect(await create(outsider, { team_id })).toBe(404);
      expect(await ask(tenant.owner, {})).not.toBe('allowed');
      expect([403, 404]).toContain(await create(tenant.owner, {}));
      expect(await ask(root, {})).toBe('allowed');
    },
  );

  it('an access review without a team decides about resources that belong to no team', async () => {
    expect(await codeOf(requester, 'list', 'runs')).toBe('allowed');
    expect(await codeOf(requester, 'create', 'templates')).toBe('permission_denied');
    const maintainer = await api.addUser('maintainer');
    const everybodys = await root.make('/registry/templates', { name: 'Everybody' });
    const teams = await tenant.owner.make('/registry/templates', { name: 'Ours', team_id: tenant.team });
    expect(await codeOf(requester, 'get', 'templates', { name: everybodys.id })).toBe('allowed');
    expect(await codeOf(maintainer, 'get', 'templates', { name: everybodys.id })).toBe('allowed');
    expect(await codeOf(maintainer, 'update', 'templates', { name: everybodys.id })).toBe('permission_denied');
    expect(await codeOf(root, 'update', 'templates', { name: everybodys.id })).toBe('allowed');
    expect(await codeOf(tenant.owner, 'get', 'templates', { name: teams.id })).toBe('resource_not_found_or_denied');
    for (const [name, team_id, code] of [
      [everybodys.id, tenant.team, 'resource_not_found_or_denied'],
      [teams.id, tenant.team, 'allowed'],
    ] as const)
      expect(await codeOf(tenant.owner, 'get', 'templates', { name, team_id })).toBe(code);
  });

  it('leaves no audit record, even if it is denied', async () => {
    const curious = await api.addUser('requester');
    await canI(curious, 'update', 'projects', project());
    await canI(curious, 'get', 'projects', project());
    expect(await api.rows(`select 1 from audit_records where actor_id = ?`, [curious.id])).toEqual([]);
  });

  it('reads the caller and the target once each, and the caller again after a target that takes a statement of its own', async () => {
    const team_id = tenant.team;
    const query = vi.spyOn(BindingConnection.prototype, 'run');
    try {
      for (const { operation, review, isNamed, team } of catalogueOf(operations).entries) {
        await canI(root, 'get', 'users', { name: missing });
        query.mockClear();
        await canI(root, review.verb, review.resource, {
          ...(isNamed && { name: review.only ?? missing }),
          ...(team !== 'refused' && { team_id }),
        });
        const sent = query.mock.calls.map(([text]) => text);
        const ofCaller = sent.filter((text) => text.includes('from "settings"'));
        const isLookup = review.target !== undefined && 'query' in review.target;
        const isJoined = isLookup || (!isNamed && team !== 'refused');
        expect(ofCaller.length, operation.id).toBe(isJoined ? 1 : 2);
        expect(sent.length - ofCaller.length, operation.id).toBeLessThanOrEqual(isJoined ? 0 : 2);
      }
    } finally {
      query.mockRestore();
    }
  });
});

describe('the caller of an access review', () => {
  it('is loaded with everything that a decision needs, except the target', async () => {
    const { body } = await tenant.owner.get('/auth/whoami');
    expect(body).toMatchObject({
      type: 'user',
      id: tenant.owner.id,
      role: 'maintainer',
      enabled: true,
      credential: { type: 'api_key' },
      responsible_user_id: tenant.owner.id,
      organizations: [{ id: tenant.organization, role: 'owner' }],
      teams: [{ id: tenant.team, role: 'owner' }],
    });
    expect(body.permissions).toEqual(permissionsOf('maintainer'));
    const signedIn = await api.signIn(root);
    expect((await signedIn.get('/auth/whoami')).body.credential.type).toBe('session');
  });
});

describe('the name of an organization in an access review', () => {
  const get = (caller: ApiUser, name: string) => codeOf(caller, 'get', 'organizations', { name });

  it('can be its id, its slug, or a former slug', async () => {
    const owner = await api.addUser('maintainer');
    const { id } = await owner.make('/organizations', { name: 'Before', slug: 'slug-before' });
    await owner.patch(`/organizations/${id}`, { slug: 'slug-after' });
    for (const name of [id, 'slug-before', 'slug-after']) {
      expect(await get(owner, name), name).toBe('allowed');
      expect(await get(requester, name), name).toBe('resource_not_found_or_denied');
    }
    expect(await get(owner, 'slug-never')).toBe('resource_not_found_or_denied');
  });

  it('is taken as an id before a slug, and a denial by id does not fall back to the slug', async () => {
    const [one, two] = [await api.addUser('maintainer'), await api.addUser('maintainer')];
    const { id } = await one.make('/organizations', { name: 'One' });
    await two.make('/organizations', { name: 'Two', slug: id });
    expect(await get(one, id)).toBe('allowed');
    expect(await get(two, id)).toBe('resource_not_found_or_denied');
    const unusedId = newId();
    await two.make('/organizations', { name: 'Three', slug: unusedId });
    expect(await get(two, unusedId)).toBe('allowed');
  });
});

describe('a user as target of an access review', () => {
  it('may read and change their own user by profile:manage, and others by user:manage', async () => {
    for (const verb of ['get', 'update']) {
      expect(await codeOf(requester, verb, 'users', { name: requester.id })).toBe('allowed');
      expect(await codeOf(requester, verb, 'users', { name: root.id })).toBe('resource_not_found_or_denied');
      expect(await codeOf(requester, verb, 'users', { name: missing })).toBe('resource_not_found_or_denied');
      expect(await codeOf(root, verb, 'users', { name: requester.id })).toBe('allowed');
      expect(await codeOf(root, verb, 'users', { name: missing })).toBe('resource_not_found_or_denied');
    }
    expect(await codeOf(requester, 'list', 'users')).toBe('permission_denied');
    expect(await codeOf(root, 'create', 'users')).toBe('allowed');
  });

  it('gets the same answer for an existing and a missing user', async () => {
    const [there, not] = await Promise.all([root.id, missing].map((name) => canI(requester, 'get', 'users', { name })));
    expect(there).toEqual(not);
  });
});

describe('a malformed access review', () => {
  const valid = () => reviewOf({ resource: 'projects', verb: 'get', ...project() }).resource_attributes;
  const refused = async (body: string, headers: Record<string, string> = {}) => {
    const response = await api.app.inject({
      method: 'POST',
      url: '/api/v1/auth/can-i',
      headers: { ...root.credential, 'content-type': 'application/json', ...headers },
      payload: body,
    });
    const answer = response.json();
    expect(response.statusCode, `${body}: ${response.body}`).toBe(400);
    expect(answer).toEqual({ error: { code: 'malformed_review', message: expect.any(String) } });
    return answer.error.message as string;
  };
  const attributes = (changes: object) => JSON.stringify({ resource_attributes: { ...valid(), ...changes } });

  it.each([
    ['another group', { group: 'apps' }, /group": expected "delivery.coordinator"/],
    ['a group of any kind', { group: '*' }, /group/],
    ['no group', { group: undefined }, /group/],
    ['another version', { version: 'v2' }, /version": expected "v1"/],
    [
      'a resource that there is not',
      { resource: 'workloads' },
      /resource: "workloads" is not reviewed here: use .*projects/,
    ],
    ['a resource of another spelling', { resource: 'service-accounts' }, /resource/],
    ['a resource in the singular', { resource: 'project' }, /resource/],
    ['an unknown verb', { verb: 'destroy' }, /verb: projects have no "destroy": use .*update/],
    ['every resource', { resource: '*' }, /resource/],
    ['every verb', { verb: '*' }, /verb/],
    ['every name', { name: '*' }, /name/],
    ['names that begin alike', { name: 'net*' }, /name/],
    ['a selector for a name', { name: 'team=core' }, /name/],
    ['a subresource in the name', { name: 'a/b' }, /name/],
    ['an empty name', { name: '' }, /name/],
    ['a missing name', { name: undefined }, /name: projects get needs a name/],
    ['a name that is null', { name: null }, /name/],
    ['a name that is no text', { name: 7 }, /name/],
    ['several names', { name: ['a'] }, /name/],
    ['a name for a collection', { verb: 'create' }, /name: projects create is about the collection/],
    ['a missing team', { team_id: undefined }, /team_id: projects get needs the id of a team/],
    ['the team zero', { team_id: '00000000-0000-0000-0000-000000000000' }, /team_id/],
    ['a team that is no id', { team_id: 'core' }, /team_id/],
    ['a team for a resource without teams', { resource: 'users', name: newId() }, /team_id: users get takes no team/],
    ['a subresource', { subresource: 'logs' }, /subresource/],
    ['a namespace', { namespace: 'default' }, /namespace/],
    ['a label selector', { label_selector: 'a=b' }, /label_selector/],
    ['a field selector', { field_selector: {} }, /field_selector/],
    ['another user', { user: newId() }, /user/],
  ])('is refused for %s', async (_what, changes, message) => {
    expect(await refused(attributes(changes))).toMatch(message);
  });

  it.each([
    ['nothing', ''],
    ['null', 'null'],
    ['an array', '[]'],
    ['a text', '"projects"'],
    ['no attributes', '{}'],
    ['attributes that are null', '{"resource_attributes":null}'],
    ['what is no JSON', '{'],
    ['more than one value', '{}{}'],
    ['non-resource attributes', '{"non_resource_attributes":{"path":"/metrics","verb":"get"}}'],
  ])('is refused for %s', async (_what, body) => {
    await refused(body);
  });

  it.each(['user', 'groups', 'uid', 'extra', 'subject', 'impersonate', 'spec', 'status'])(
    'is refused for %s besides the attributes',
    async (member) => {
      expect(await refused(JSON.stringify({ resource_attributes: valid(), [member]: {} }))).toContain(member);
    },
  );

  it('is refused for a duplicate key at any depth', async () => {
    const text = JSON.stringify(valid());
    expect(await refused(`{"resource_attributes":${text},"resource_attributes":${text}}`)).toContain('more than once');
    for (const [key, value] of Object.entries(valid()))
      expect(
        await refused(`{"resource_attributes":${text.slice(0, -1)},${JSON.stringify(key)}:${JSON.stringify(value)}}}`),
      ).toContain('more than once');
    // The same key with an escape sequence in it.
    expect(await refused(`{"resource_attributes":${text.slice(0, -1)},"n\\u0061me":"x"}}`)).toContain('more than once');
  });

  it('is refused for another content type, a query and impersonation', async () => {
    await refused(attributes({}), { 'content-type': 'text/plain' });
    await refused(attributes({}), { 'content-type': 'application/x-www-form-urlencoded' });
    expect(await refused(attributes({}), { 'impersonate-user': root.id })).toContain('impersonate-user');
    const asked = await root.post('/auth/can-i?dry_run=true', reviewOf({ resource: 'users', verb: 'list' }));
    expect(asked).toMatchObject({ status: 400, body: { error: { code: 'malformed_review' } } });
  });

  it('is refused if its body is too large, as in every operation', async () => {
    const answer = await root.post('/auth/can-i', { resource_attributes: { name: 'a'.repeat(1024 * 1024) } });
    expect(answer).toMatchObject({ status: 413, body: { error: expect.stringContaining('1 MiB') } });
  });
});

describe('a caller without a valid credential', () => {
  it('gets 401 before the review is validated', async () => {
    for (const body of [reviewOf({ resource: 'users', verb: 'list' }), { wrong: true }])
      expect(await api.nobody.post('/auth/can-i', body)).toMatchObject({
        status: 401,
        body: { error: expect.any(String) },
      });
  });

  it('gets 401 as soon as the credential has expired or was revoked', async () => {
    const user = await api.addUser('requester');
    const about = { name: user.id };
    expect(await codeOf(user, 'get', 'users', about)).toBe('allowed');
    await root.put(`/users/${user.id}`, { enabled: false });
    expect((await user.post('/auth/can-i', reviewOf({ resource: 'users', verb: 'get', ...about }))).status).toBe(401);
  });
});
