import { required } from './answers.ts';
import type { People } from './people.ts';
import type { Accounts } from './runs/places.ts';
import type { Tenants } from './tenants.ts';

/** Adds service accounts with keys: of teams, of a person, a disabled one. Answers those that request runs, by team. */
export async function addAccounts(people: People, { teams }: Tenants): Promise<Accounts> {
  const add = async (by: People['owner'], body: { name: string; role: string; owner: object }, keys: object[]) => {
    const { id } = await by.make('/service-accounts', body);
    for (const key of keys) required(await by.post(`/service-accounts/${id}/api-keys`, key), 201);
    return { id, name: body.name, kind: 'service_account' as const, responsibleId: by.id };
  };
  const year = new Date(Date.now() + 365 * 24 * 60 * 60_000).toISOString();
  const platform = await add(
    people.owner,
    { name: 'nightly-network', role: 'requester', owner: { team_id: teams.platform.id } },
    [{ name: 'GitHub Actions', expires_at: year }, { name: 'before the move' }],
  );
  const payments = await add(
    people.maintainer,
    { name: 'checkout-pipeline', role: 'requester', owner: { team_id: teams.payments.id } },
    [{ name: 'GitLab' }],
  );
  const data = await add(
    people.fjordOwner,
    { name: 'spark-scheduler', role: 'requester', owner: { team_id: teams.data.id } },
    [{ name: 'Airflow', expires_at: year }],
  );
  await add(people.operator, { name: 'on-call-robot', role: 'operator', owner: { user_id: people.operator.id } }, [
    { name: 'pager' },
  ]);
  const old = await add(
    people.owner,
    { name: 'old-jenkins', role: 'maintainer', owner: { team_id: teams.platform.id } },
    [],
  );
  required(await people.owner.post(`/service-accounts/${old.id}/disable`), 200);
  return { platform, payments, data };
}

/** Adds invitations: pending, accepted, revoked. Answers the token of a pending one. */
export async function addInvitations(people: People, { organizations, teams }: Tenants): Promise<string> {
  const path = `/organizations/${organizations.northwind.id}/invitations`;
  const accepted = required(
    await people.owner.post(path, { email: people.newcomer.email, role: 'member', team_id: teams.storefront.id }),
    201,
  );
  required(await people.newcomer.post('/invitations/accept', { token: accepted.token }), 200);
  required(await people.owner.post(path, { email: 'hannah.berg@northwind.example', role: 'admin' }), 201);
  required(
    await people.maintainer.post(`${teams.payments.path}/invitations`, {
      email: 'luca.moretti@northwind.example',
      role: 'admin',
      expires_in: '48h',
    }),
    201,
  );
  const open = required(
    await people.owner.post(`${teams.platform.path}/invitations`, { email: people.developer.email, role: 'member' }),
    201,
  );
  return open.token;
}
