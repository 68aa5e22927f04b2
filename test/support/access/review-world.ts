import { declarations } from '#domain/ownership.ts';
import { newId } from '#domain/shared/ids.ts';
import { release } from '#domain/shared/installation/release.ts';
import type { AnyDeclaration } from '#domain/shared/ownership-graph/declaration.ts';
import { Worker } from '#domain/workers/entity.ts';
import type { TestApi } from '../api/http-api.ts';
import { addTenant } from '../api/tenant.ts';
import { type Ids, missingIds } from '../api/tenant-ids.ts';
import { declaredNames, declaredResources } from '../areas/declared.ts';
import { addPerson, addServiceAccount, type Memberships, type Person, publish, sayHello } from './people.ts';
import { platformRoles } from './permission-table.ts';

/** Several tenants with archived, deleted and unowned resources, and callers of every kind who can ask about them. */
export interface World {
  readonly askers: readonly Asker[];
  /** Names by resource: those of existing resources, and those that no resource has. */
  readonly names: Readonly<Record<string, readonly string[]>>;
  /** The team that owns a resource, by the resource's id; null where no team does. */
  readonly teamOf: ReadonlyMap<string, string | null>;
  readonly teams: readonly string[];
  /** The ids that requests about a team's resources need; without a team, those of unowned resources. */
  idsOf(teamId: string | undefined): Ids;
}

export interface Asker extends Person {
  readonly label: string;
  readonly isDisabled: boolean;
}

export async function makeWorld(api: TestApi): Promise<World> {
  const root = await addPerson(api, 'admin');
  const tenants = [await addTenant(api, root)];
  const { organization, team } = tenants[0]!;
  tenants.push(await addTenant(api, root, { organization }));
  while (tenants.length < 5) tenants.push(await addTenant(api, root));
  const unscoped = await addUnscoped(root);
  const slugs = await addSlugs(root, tenants);
  const askers = await addAskers(api, root, tenants);
  const accounts = await addOwnedAccounts(api, askers);
  const workers = await addWorkers(api, root);
  const records = await api.orm.em.fork().execute<{ id: string }[]>('select id from audit_records limit 3');
  const emptied = await addTenant(api, root, { organization, team });
  await endSome(api, [...tenants, emptied]);
  const owned = [...tenants, emptied, unscoped];
  const missing = missingIds(tenants[0]!);
  return {
    askers,
    names: namesOf(owned, {
      organizations: slugs,
      users: askers.map(({ id }) => id),
      service_accounts: accounts,
      ...workers,
      audit_records: records.map(({ id }) => id),
    }),
    teamOf: new Map([
      ...accounts.map((id) => [id, null] as const),
      ...owned.flatMap((ids) => Object.values(ids).map((id) => [id, ids.team ?? null] as const)),
    ]),
    teams: [...tenants.map(({ team }) => team), missing.team],
    idsOf: (teamId) => owned.find(({ team }) => team === teamId) ?? { ...missing, team: teamId ?? missing.team },
  };
}

/** Names that no resource has or could have. */
const unusedNames = [newId(), 'no-such-name', 'A.B_c', '9'.repeat(253), '00000000-0000-0000-0000-000000000000'];

function namesOf(owned: readonly Ids[], more: Record<string, readonly string[]>): World['names'] {
  const all = (name: keyof Ids) => owned.flatMap((ids) => ids[name] ?? []);
  const names: Record<string, readonly string[]> = {
    ...more,
    ...declaredReviews(all),
    organizations: [...all('organization'), ...(more['organizations'] ?? [])],
    users: [...all('person'), ...(more['users'] ?? [])],
    teams: all('team'),
    projects: all('project'),
    environments: all('environment'),
    templates: all('template'),
    assemblies: all('assembly'),
    drift_monitors: all('monitor'),
    drift_findings: all('finding'),
    connections: all('connection'),
    notification_channels: all('channel'),
    runs: all('run'),
    selective_undo_attempts: all('selectiveUndo'),
    instances: all('instance'),
    service_accounts: [...all('account'), ...(more['service_accounts'] ?? [])],
    settings: ['global', 'local'],
  };
  const foreign = [owned[0]!.team, owned[0]!.run, owned[0]!.organization];
  return Object.fromEntries(
    Object.entries(names).map(([resource, own]) => [resource, [...new Set([...own, ...unusedNames, ...foreign])]]),
  );
}

function declaredReviews(all: (name: keyof Ids) => string[]): Record<string, readonly string[]> {
  const reviewed = declaredNames.flatMap((name) => {
    const resource = declaredResources[name].reviewed;
    return resource ? [[resource, all(name)] as const] : [];
  });
  return Object.fromEntries(reviewed);
}

/** Adds a template, a run and an instance that belong to no team. */
async function addUnscoped(root: Person): Promise<Ids> {
  const template = await publish(root.caller, sayHello);
  const { body: run } = await root.caller.post('/runs', { template_id: template });
  return { template, run: run.id, instance: run.instance_id, person: root.id } as Ids;
}

/** Makes current and former slugs, and slugs that look like the id of another organization or of none. */
async function addSlugs(root: Person, [first, , third]: readonly Ids[]): Promise<string[]> {
  const rename = (id = '', slug = '') => root.caller.send('PATCH', `/organizations/${id}`, { slug });
  for (const slug of ['slug-before', 'slug-after']) await rename(first?.organization, slug);
  await rename(third?.organization, 'slug-of-another');
  const lookalike = newId();
  const twins = [third?.organization, lookalike].map((slug) =>
    root.caller.post('/organizations', { name: 'Twin', slug }),
  );
  const ids = (await Promise.all(twins)).map(({ body }) => body.id as string);
  return ['slug-before', 'slug-after', 'slug-of-another', lookalike, ...ids];
}

/** Adds every platform role with every kind of membership, as a user and as a service account; some are disabled. */
async function addAskers(api: TestApi, root: Person, tenants: readonly Ids[]): Promise<Asker[]> {
  const team = { teamId: tenants[0]!.team };
  const added = platformRoles.flatMap((role) => [
    ...membershipsIn(tenants).flatMap(([label, memberships]) => [
      addAs(`${role} ${label}`, addPerson(api, role, memberships)),
      addAs(`account ${role} ${label}`, addServiceAccount(api, role, memberships)),
    ]),
    addAs(`account ${role} of a team`, addServiceAccount(api, role, {}, team)),
  ]);
  const askers = await Promise.all([addAs('the administrator', Promise.resolve(root)), ...added]);
  const em = api.orm.em.fork();
  for (const { id, isDisabled } of askers)
    if (isDisabled) await em.execute('update principals set enabled = false where id = ?', [id]);
  return askers;
}

/** Adds service accounts of users, some of whom are disabled. */
async function addOwnedAccounts(api: TestApi, askers: readonly Asker[]): Promise<string[]> {
  const owners = askers.filter(
    ({ label, email, isDisabled }) => email && (isDisabled || label.includes('in two teams')),
  );
  const added = [askers[0]!, ...owners].map(({ id }) => addServiceAccount(api, 'requester', {}, { userId: id }));
  return (await Promise.all(added)).map(({ id }) => id);
}

async function addAs(label: string, added: Promise<Person>): Promise<Asker> {
  return { ...(await added), label, isDisabled: label.endsWith('disabled') };
}

function membershipsIn(tenants: readonly Ids[]): [string, Memberships][] {
  const [one, two, three] = tenants as readonly [Ids, Ids, Ids, ...Ids[]];
  const inOrganization = { organizations: { [one.organization]: 'member' } } as const;
  return [
    ['in nothing', {}],
    ...(['member', 'admin', 'owner'] as const).map((role): [string, Memberships] => [
      `as ${role} of an organization`,
      { organizations: { [one.organization]: role } },
    ]),
    ...(['viewer', 'member', 'admin', 'owner'] as const).map((role): [string, Memberships] => [
      `as ${role} of a team`,
      { ...inOrganization, teams: { [one.team]: role } },
    ]),
    ['in two teams', { ...inOrganization, teams: { [two.team]: 'viewer', [three.team]: 'owner' } }],
    ['as owner of what is over', ownerOf(tenants.slice(3))],
    ['disabled', ownerOf(tenants)],
  ];
}

function ownerOf(tenants: readonly Ids[]): Memberships {
  return {
    organizations: Object.fromEntries(tenants.map(({ organization }) => [organization, 'owner' as const])),
    teams: Object.fromEntries(tenants.map(({ team }) => [team, 'owner' as const])),
  };
}

async function addWorkers({ orm }: TestApi, root: Person): Promise<{ workers: string[]; worker_pools: string[] }> {
  const em = orm.em.fork();
  const now = new Date();
  const id = newId();
  em.create(Worker, {
    id,
    host: 'one',
    processId: 1,
    version: release,
    pools: ['gpu'],
    tools: [],
    concurrency: 1,
    startedAt: now,
    heartbeatAt: now,
  });
  await em.flush();
  await root.caller.post('/worker-pools', { name: 'reserved' });
  return { workers: [id], worker_pools: ['reserved', 'gpu', 'nowhere'] };
}

/** The kinds of things that can be deleted and stay as a row. */
const ending = (declarations as readonly AnyDeclaration[]).filter(({ tombstone }) => tombstone);
/** A tenant without contents keeps these. */
const owners = ['organization', 'team'];

/** The kinds whose ids have another name than the kind. */
const namesOfIds: Readonly<Record<string, string>> = { drift_monitor: 'monitor' };

/** Archives one tenant, deletes another, and deletes the contents of a third. */
async function endSome({ orm }: TestApi, [, , , archived, deleted, emptied]: readonly Ids[]): Promise<void> {
  const em = orm.em.fork();
  const end = async (table: string, column: string, id: string | undefined) => {
    if (id !== undefined) await em.execute(`update ${table} set ${column} = now() where id = ?`, [id]);
  };
  for (const { kind, table, archivable } of ending) {
    const name = namesOfIds[kind] ?? kind;
    const of = (ids: Ids | undefined) => (ids as Readonly<Record<string, string>> | undefined)?.[name];
    if (archivable) await end(table, 'archived_at', of(archived));
    await end(table, 'deleted_at', of(deleted));
    if (!owners.includes(kind)) await end(table, 'deleted_at', of(emptied));
  }
  await em.execute('update principals set deleted_at = now() where id = ?', [emptied?.person ?? '']);
}
