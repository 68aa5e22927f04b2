import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRandom, type Random } from '#test/faults/harness/random.ts';
import { join, makeTenant, type Tenant } from '#test/support/access/tenancy.ts';
import { type ApiUser, startApi, type TestApi } from '#test/support/api/in-process-api.ts';
import { readSeed } from '#test/support/seed.ts';

/** The number of requests, small enough for `npm test`. For a longer search, use thousands and another seed. */
const steps = Number(process.env['ACCOUNT_STEPS'] ?? 160);
const seed = readSeed('ACCOUNT_SEED', 7);
const atOnce = 8;

let api: TestApi;
let people: ApiUser[];
let tenants: Tenant[];
beforeAll(async () => {
  api = await startApi();
  tenants = [await makeTenant(api), await makeTenant(api)];
  people = [await api.addUser('admin'), await api.addUser('operator'), ...tenants.map(({ owner }) => owner)];
  for (const tenant of tenants) for (const person of people.slice(0, 2)) await join(tenant, person, 'admin', 'owner');
});
afterAll(() => api?.close());

const roles = ['requester', 'maintainer', 'operator', 'admin'] as const;

/** A random request about the accounts, keys and memberships that exist at the moment. */
function tryings(random: Random, known: { accounts: string[]; keys: string[] }) {
  const person = () => random.pick(people);
  const tenant = () => random.pick(tenants);
  const owner = () => (random.chance(0.5) ? { user_id: person().id } : { team_id: tenant().team });
  const account = () =>
    known.accounts.length > 0 ? `/service-accounts/${random.pick(known.accounts.slice(-5))}` : '/service-accounts';
  const id = () => account().split('/')[2] ?? people[0]!.id;
  const keyPath = () =>
    known.keys.length > 0 ? random.pick(known.keys.slice(-5)) : `${account()}/api-keys/${people[0]!.id}`;
  return [
    () => person().post('/service-accounts', { name: 'mix', role: random.pick(roles), owner: owner() }),
    () => person().post('/service-accounts', { name: 'mix', role: 'maintainer', owner: { team_id: tenant().team } }),
    () => person().post(`${account()}/api-keys`, { name: 'mix' }),
    () => person().post(`${keyPath()}/rotate`, random.chance(0.5) ? { overlap: '1h' } : {}),
    () => person().delete(keyPath()),
    () => person().patch(account(), { role: random.pick(roles) }),
    () => person().post(`${account()}/${random.pick(['disable', 'enable'])}`),
    () => person().post(`${account()}/transfer`, { owner: owner() }),
    () => (random.chance(0.3) ? person().delete(account()) : person().get(account())),
    () => person().put(`/organizations/${tenant().organization}/members/${id()}`, { role: 'member' }),
    () =>
      person().put(`${tenant().teamPath}/members/${id()}`, {
        role: random.pick(['owner', 'admin', 'member'] as const),
      }),
    () => person().delete(`${tenant().teamPath}/members/${id()}`),
    () => person().delete(`/organizations/${tenant().organization}/members/${id()}`),
    () => person().post('/profile/api-key/regenerate', {}),
  ];
}

describe('accounts, keys and memberships under concurrent changes', () => {
  it('answer every request with an expected status, and keep all rules', { timeout: 600_000 }, async () => {
    const random = openRandom(seed, 'accounts');
    const known = { accounts: [] as string[], keys: [] as string[] };
    const counts: Record<string, number> = {};
    let left = steps;
    const work = async () => {
      while (left-- > 0) {
        const answer = await random.pick(tryings(random, known))();
        counts[answer.status] = (counts[answer.status] ?? 0) + 1;
        expect(answer.status, answer.text).toBeLessThan(500);
        const location = answer.status === 201 ? String(answer.headers['location']).replace('/api/v1', '') : '';
        if (/^\/service-accounts\/[^/]+$/.test(location)) known.accounts.push(location.split('/')[2]!);
        if (/^\/service-accounts\/.*\/api-keys\//.test(location)) known.keys.push(location);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    expect(counts['200'], JSON.stringify(counts)).toBeGreaterThan(steps / 20);
    for (const [rule, sql] of Object.entries(broken)) expect(await api.rows(sql), rule).toEqual([]);
  });
});

/** Rows that must never exist, by the rule that they would break. */
const broken: Record<string, string> = {
  'one active profile key': `select principal_id from api_keys where kind = 'profile' and revoked_at is null
    group by principal_id having count(*) > 1`,
  'a team’s account is in that team alone': `select 1 from service_accounts a join team_members m on m.principal_id = a.id
    where a.owner_team_id is not null`,
  'who is in a team is in its organization': `select 1 from team_members m join teams t on t.id = m.team_id
    where not exists (select 1 from organization_members o
                       where o.principal_id = m.principal_id and o.organization_id = t.organization_id)`,
  'an account is in a team what its role makes of it': `select p.role, m.role from team_members m
    join principals p on p.id = m.principal_id and p.kind = 'service_account'
    where m.role <> case p.role when 'admin' then 'owner' when 'requester' then 'member' else 'admin' end`,
  'the deleted have no keys and no memberships': `select 1 from principals p where p.deleted_at is not null and (
    exists (select 1 from api_keys k where k.principal_id = p.id and k.revoked_at is null)
    or exists (select 1 from organization_members m where m.principal_id = p.id))`,
  'no key outlives a change of owner': `select k.id from api_keys k join audit_records r
    on r.resource_id::text = k.principal_id::text and r.action = 'service_account.transferred' and r.outcome = 'committed'
    where k.revoked_at is null and k.created_at < r.at`,
  'somebody administers': `select 1 where not exists (select 1 from principals where role = 'admin' and enabled and deleted_at is null)`,
};
