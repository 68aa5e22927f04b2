import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operations } from '#api/operations.ts';
import { isPublic, type Operation, routeOf } from '#api/pipeline/operation.ts';
import type { Orm } from '#database/database.ts';
import type { OrganizationRole, PlatformRole } from '#domain/shared/vocabulary/roles.ts';
import { addPerson, addServiceAccount, addTeam, type Memberships, type Person } from '#test/support/access/people.ts';
import { platformRoles } from '#test/support/access/permission-table.ts';
import { demandOf, isOwned, may, membershipsFor, weakest } from '#test/support/access/weakest.ts';
import { bodies } from '#test/support/api/example-bodies.ts';
import { startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { forAdministrators, hiddenFromOthers, reviewedWithoutTeam } from '#test/support/api/installation-table.ts';
import { pathOf } from '#test/support/api/operation-paths.ts';
import { ask as askAt, type Request } from '#test/support/api/operation-requests.ts';
import { demands } from '#test/support/api/operation-table.ts';
import { addTenant } from '#test/support/api/tenant.ts';
import { type Ids, missingIds } from '#test/support/api/tenant-ids.ts';
import { mergeDeclared } from '#test/support/areas/declared.ts';

let api: TestApi;
/** The API as set-ups use it. */
let place: { url: string; orm: Orm };
let root: Person;
let tenant: Ids;
let elsewhere: Memberships;

beforeAll(async () => {
  api = await startApi();
  place = { url: await api.app.listen({ port: 0 }), orm: api.services.orm };
  root = await addPerson(place, 'admin');
  tenant = await addTenant(place, root);
  const { organizationId, teamId } = await addTeam(place.orm);
  elsewhere = { teams: { [teamId]: 'owner' }, organizations: { [organizationId]: 'owner' } };
});
afterAll(() => api?.close());

const people = new Map<string, Promise<Person>>();

/** A user with a role and memberships. The same arguments return the same user. */
function userWith(role: PlatformRole, memberships: Memberships = {}): Promise<Person> {
  const name = JSON.stringify([role, memberships]);
  const person = people.get(name) ?? addPerson(place, role, memberships);
  people.set(name, person);
  return person;
}

const missing = () => missingIds(tenant);
const ask = (operation: Operation, request: Partial<Request>) => askAt(api, operation, { ids: tenant, ...request });

const closed = operations
  .filter(({ access }) => !isPublic(access))
  .map((operation) => [operation.id, operation] as const);
const inheritedReview = ({ access }: Pick<Operation, 'access'>): string | null =>
  !isPublic(access) && typeof access.review === 'object' && 'inherits' in access.review ? access.review.inherits : null;
/** The operation's path with malformed ids. */
const malformed = (operation: Operation) => routeOf(operation).path.replace(/:\w+/g, 'not an id');

describe('the table of demands', () => {
  it('lists every operation and no others', () => {
    expect([...demands.keys()].sort()).toEqual(operations.map(({ id }) => id).sort());
  });

  it('sends no request whose `:id` is of an unknown resource', () => {
    const [first] = closed.filter(([, { route }]) => route.endsWith('/:id'));
    const unknown = { ...first![1], id: 'things.get' } as Operation;
    expect(() => pathOf(unknown, tenant)).toThrow('things.get: say in `resourceOfId`');
  });

  it.each(operations.map((operation) => [operation.id, operation] as const))(
    'has the access that %s requires',
    (id, { access }) => {
      const demand = demands.get(id);
      if (isPublic(access)) return expect(demand).toBeNull();
      expect({
        permissions: access.anyOf,
        also: access.allOf ?? [],
        scope: access.scope,
        organizationRole: ['organization', 'owned'].includes(access.scope)
          ? (access.organizationRole ?? 'member')
          : null,
        teamActions: ['team', 'owned'].includes(access.scope) ? [access.teamAction ?? []].flat() : [],
        peopleOnly: access.principals?.join() === 'user',
        refusal: access.missingPermission === 'hidden' ? 404 : 403,
        missing: access.hidden === 'invalid' ? 400 : 404,
      }).toEqual(demand);
      expect(access.hidden === 'forbidden').toBe(id.startsWith('users.'));
    },
  );

  it.each(closed.filter(([, { access }]) => inheritedReview({ access }) !== null))(
    'has the same access for %s as for the operation whose review it inherits',
    (_, operation) => {
      const of = operations.find(({ id }) => id === inheritedReview(operation));
      expect(of && demandOf(operation)).toEqual(of && demandOf(of));
      expect(of).toBeDefined();
    },
  );

  it.each([
    ['administrators', forAdministrators],
    ['hidden', hiddenFromOthers],
  ])('lists the operations whose rule for resources of the installation is "%s"', (rule, expected) => {
    const declared = operations.filter(({ access }) => !isPublic(access) && access.installation === rule);
    expect(declared.map(({ id }) => id).sort()).toEqual(expected);
  });

  it('lists the operations whose access reviews may have no team', () => {
    const unscoped = operations.filter(
      ({ access }) =>
        !isPublic(access) &&
        typeof access.review === 'object' &&
        'unscoped' in access.review &&
        access.review.unscoped === true,
    );
    expect(unscoped.map(({ id }) => id).sort()).toEqual(reviewedWithoutTeam);
  });

  it('has operations with different routes', () => {
    const routes = operations.map(({ route }) => route.replace(/:\w+/g, ':'));
    expect(new Set(routes).size).toBe(routes.length);
  });

  it('has an example body for every operation that has a body', () => {
    const without = operations.filter(({ id, body, access }) => body && !isPublic(access) && !bodies[id]);
    expect(without.map(({ id }) => id)).toEqual([]);
  });
});

describe('a caller without a credential', () => {
  it.each(closed)('gets 401 from %s regardless of the input', async (_id, operation) => {
    const inputs = [{}, { ids: missing() }, { path: malformed(operation) }, operation.body ? { body: '{' } : {}];
    const answers = await Promise.all(inputs.map((request) => ask(operation, request)));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
  });
});

describe('a caller with a revoked credential', () => {
  const ended: Record<string, (person: Person) => [sql: string, id: string]> = {
    'a disabled user': ({ id }) => ['update principals set enabled = false where id = ?', id],
    'a deleted user': ({ id }) => ['update principals set deleted_at = now() where id = ?', id],
    'a revoked key': ({ keyId }) => ['update api_keys set revoked_at = now() where id = ?', keyId],
    'an expired key': ({ keyId }) => [`update api_keys set expires_at = now() - interval '1 s' where id = ?`, keyId],
  };
  const people: [string, string][] = [];
  beforeAll(async () => {
    for (const [name, end] of Object.entries(ended)) {
      const person = await addPerson(place, 'admin');
      const [sql, id] = end(person);
      await api.rows(sql, [id]);
      people.push([name, person.key]);
    }
  });

  it.each(closed)('gets 401 from %s even if it was an administrator', async (_id, operation) => {
    const answers = await Promise.all(
      people.map(async ([name, key]) => [name, (await ask(operation, { key })).status]),
    );
    expect(answers).toEqual(people.map(([name]) => [name, 401]));
  });
});

describe('a caller without the permission', () => {
  const refused = closed.flatMap(([id, operation]) =>
    platformRoles.filter((role) => !may(role, demandOf(operation))).map((role) => [role, id, operation] as const),
  );

  it.each(refused)(
    'a caller without the permission as %s is refused by %s, for existing and missing targets alike',
    async (role, _id, operation) => {
      const { key } = await userWith(role);
      const there = await ask(operation, { key });
      expect(there.status, there.text).toBe(demandOf(operation).refusal);
      const inputs = [{ ids: missing() }, { path: malformed(operation) }, ...(operation.body ? [{ body: '{' }] : [])];
      for (const answer of await Promise.all(inputs.map((request) => ask(operation, { key, ...request }))))
        expect(answer).toEqual(there);
    },
  );
});

const owned = closed.filter(([, operation]) => isOwned(operation));
/** Users who are platform administrators pass the checks of owners. */
const ofTenants = owned.filter(([, operation]) => weakest(demandOf(operation)) !== 'admin');

describe('a caller outside the tenant', () => {
  it.each(ofTenants)('gets the same answer from %s as for a missing target', async (_id, operation) => {
    const role = weakest(demandOf(operation));
    const stranger = await userWith(role, elsewhere);
    const there = await ask(operation, { key: stranger.key });
    expect(there.status, there.text).toBe(demandOf(operation).missing);
    expect(await ask(operation, { key: stranger.key, ids: missing() })).toEqual(there);
  });

  it.each(ofTenants.filter(([, operation]) => demandOf(operation).scope !== 'organization'))(
    'gets the same answer from %s as a plain member of the organization',
    async (_id, operation) => {
      const organizations: Record<string, OrganizationRole> = { [tenant.organization]: 'member' };
      const member = await userWith(weakest(demandOf(operation)), { organizations });
      expect((await ask(operation, { key: member.key })).status).toBe(demandOf(operation).missing);
    },
  );
});

describe('a member of the tenant', () => {
  const limited = ofTenants.flatMap(([id, operation]) =>
    membershipsFor(demandOf(operation), {} as Ids).weaker.map(([role]) => [role, id, operation] as const),
  );
  it.each(limited)(
    'a member of the tenant with the role %s is too weak for %s and gets 403',
    async (role, _id, operation) => {
      const demand = demandOf(operation);
      const weaker = new Map(membershipsFor(demand, tenant).weaker);
      const member = await userWith(weakest(demand), weaker.get(role));
      const answer = await ask(operation, { key: member.key });
      expect(answer.status, answer.text).toBe(403);
    },
  );

  /** The status of reads of what a new tenant does not have. */
  const otherwise: Record<string, number> = {
    ...mergeDeclared('otherwise'),
    'runs.get_plan': 404,
    // It names no file.
    'template_versions.file': 400,
    'runs.list_plan_changes': 404,
    'instances.get_state_version': 404,
    'instances.download_state': 404,
    'instances.compare_states': 404,
    'environment_variables.get': 404,
  };
  const reads = owned.filter(([, { kind }]) => kind === 'read');
  it.each(reads)('a member of the tenant with the weakest sufficient role succeeds with %s', async (id, operation) => {
    const demand = demandOf(operation);
    const member = await userWith(weakest(demand), membershipsFor(demand, tenant).enough);
    const { status, text } = await ask(operation, { key: member.key });
    expect(status, text).toBe(otherwise[id] ?? 200);
  });

  /** Other commands succeed in `every-command.test.ts`. */
  const limitedByBody: Record<string, number> = {
    // They already belong to the new owner, and another one is out of reach.
    'projects.transfer': 409,
    'teams.transfer': 409,
    'service_accounts.transfer': 409,
    // An admin of a team cannot invite into its organization, nor change such an invitation.
    'team_invitations.create': 409,
    'team_invitations.resend': 403,
    'team_invitations.revoke': 403,
  };
  it.each(owned.filter(([id]) => id in limitedByBody))(
    'a member of the tenant with the weakest sufficient role can send %s, but not reach what its body names',
    async (id, operation) => {
      const demand = demandOf(operation);
      const member = await userWith(weakest(demand), membershipsFor(demand, tenant).enough);
      const { status, text } = await ask(operation, { key: member.key });
      expect(status, text).toBe(limitedByBody[id]);
    },
  );
});

describe('a run whose environment was deleted', () => {
  it('looks like a missing run to a stranger who requeues it', async () => {
    const ids = await addTenant(place, root);
    await api.rows('update environments set deleted_at = now() where id = ?', [ids.environment]);
    const requeue = operations.find(({ id }) => id === 'runs.requeue')!;
    const stranger = await userWith('requester', elsewhere);
    const there = await ask(requeue, { ids, key: stranger.key });
    expect(there.status).toBe(404);
    expect(await ask(requeue, { ids: missing(), key: stranger.key })).toEqual(there);
    expect((await ask(requeue, { ids, key: root.key })).status).toBe(409);
  });
});

describe('a service account', () => {
  let owner: Person;
  let stranger: Person;
  beforeAll(async () => {
    owner = await addServiceAccount(place, 'admin', { organizations: { [tenant.organization]: 'owner' } });
    stranger = await addServiceAccount(place, 'admin');
  });

  it.each(closed.filter(([, operation]) => demandOf(operation).peopleOnly))(
    'gets 403 from %s regardless of its role',
    async (_id, operation) => {
      const answer = await ask(operation, { key: owner.key });
      expect(answer.status, answer.text).toBe(403);
    },
  );

  it.each(owned)('cannot use %s outside its teams, even with the role of an administrator', async (_id, operation) => {
    const answer = await ask(operation, { key: stranger.key });
    expect([403, demandOf(operation).missing], answer.text).toContain(answer.status);
  });
});

describe('another user', () => {
  it.each(['users.get', 'users.update'])(
    'looks the same as a missing user to a caller who may not manage users: %s',
    async (id) => {
      const operation = operations.find((each) => each.id === id)!;
      for (const role of ['requester', 'maintainer', 'operator'] as const) {
        const { key } = await userWith(role);
        const there = await ask(operation, { key });
        expect(there.status, there.text).toBe(403);
        expect(await ask(operation, { key, ids: missing() })).toEqual(there);
      }
      expect((await ask(operation, { key: root.key, ids: missing() })).status).toBe(403);
      expect((await ask(operation, { key: root.key })).status).toBe(200);
    },
  );
});

describe('a request with unusual values', () => {
  const odd = ['a%00b', "'", '%F0%9F%98%80', '-1', '%5B%5D', '1e999', '2147483648', ''];
  const parameters = operations.flatMap((operation) => [
    ...(routeOf(operation).path.match(/:\w+/g) ?? []).map((name) => [operation.id, name, operation] as const),
    ...Object.keys(queryShape(operation)).map((name) => [operation.id, `?${name}`, operation] as const),
  ]);

  it.each(parameters)('a request with unusual values to %s in %s never answers 5xx', async (_id, name, operation) => {
    const paths = odd.map((value) =>
      name.startsWith('?')
        ? `${pathOf(operation, tenant).split('?')[0]}${name}=${value}`
        : pathOf({ ...operation, route: operation.route.replace(name, value || '%20') as Operation['route'] }, tenant),
    );
    const answers = await Promise.all(paths.map((path) => ask(operation, { key: root.key, path })));
    for (const [index, { status, text }] of answers.entries())
      expect(status, `${paths[index]}: ${text}`).toBeLessThan(500);
  });

  function queryShape({ query }: Operation): object {
    return query && 'shape' in query ? query.shape : {};
  }
});
