import type { Operation } from '#api/pipeline/operation.ts';
import { newId } from '#domain/shared/ids.ts';
import { addEnvironment, addPerson, addServiceAccount, addTeam, type Person } from '../access/people.ts';
import type { TenantPlace } from '../areas/declaration.ts';
import { type DeclaredName, declaredNames, declaredResources } from '../areas/declared.ts';
import { addPlugin } from '../plugins/tenant-plugin.ts';
import { addNamed } from './add-named.ts';
import { genericConnection, signing } from './example-bodies.ts';
import type { TestApi } from './http-api.ts';
import type { Ids } from './tenant-ids.ts';
import { needsDeclared, needsPart, type TenantPart } from './tenant-parts.ts';
import { addWork, noWork } from './tenant-work.ts';

interface TenantOptions {
  readonly organization?: string;
  readonly team?: string;
  /** The only operation that the tenant is for. What it does not need is not made. */
  readonly operation?: Operation;
}

/** Adds a team with one resource of every kind, and a run of its template, which the administrator requests. */
export async function addTenant(
  api: Pick<TestApi, 'url' | 'orm'>,
  root: Person,
  options: TenantOptions = {},
): Promise<Ids> {
  const { organization, team } = await placeIn(api, options);
  const { projectId: project, environmentId: environment } = await addEnvironment(api.orm, team);
  const made = async (part: TenantPart, make: () => Promise<string>) =>
    needsPart(options.operation, part) ? make() : newId();
  const [person, account, invitation, connection, work] = await Promise.all([
    addPerson(api, 'requester', { organizations: { [organization]: 'member' }, teams: { [team]: 'member' } }),
    addServiceAccount(api, 'requester', {}, { teamId: team }),
    made('invitation', () => addInvitation(root, { organization, team })),
    made('connection', () => addNamed(root, '/admin/connections', { ...genericConnection(), team_id: team })),
    needsPart(options.operation, 'work') ? addWork(api, root, { team, environment }, options.operation) : noWork(),
  ]);
  const hasPlugin = needsPart(options.operation, 'plugin');
  return {
    organization,
    team,
    project,
    environment,
    ...work,
    ...(await addDeclared(api, root, { organization, team, project, environment, ...work }, options.operation)),
    channel: await made('channel', () => addNamed(root, '/admin/notification-channels', { ...signing, team_id: team })),
    ...(hasPlugin ? await addPlugin(root.caller, { organization, team }) : noPlugin()),
    notification: await made('notification', () => addNotification(api, root, work.run)),
    person: person.id,
    session: newId(),
    key: person.keyId,
    account: account.id,
    accountKey: account.keyId,
    invitation,
    connection,
    auditRecord: await made('work', () => findAuditRecord(api, work.run)),
  };
}

/** Adds the resources that areas declare, one after the other, since one may be part of another. */
async function addDeclared(
  api: Pick<TestApi, 'url' | 'orm'>,
  root: Person,
  place: TenantPlace,
  operation: Operation | undefined,
): Promise<Record<DeclaredName, string>> {
  const ids: Partial<Record<DeclaredName, string>> = {};
  for (const name of declaredNames) {
    const resource = declaredResources[name];
    const whole = ids[resource.partOf as DeclaredName] ?? '';
    ids[name] = needsDeclared(operation, resource) ? await resource.add(api, root, place, whole) : newId();
  }
  return ids as Record<DeclaredName, string>;
}

async function addInvitation({ caller }: Person, place: { organization: string; team: string }): Promise<string> {
  const path = `/organizations/${place.organization}/teams/${place.team}/invitations`;
  const { body, status, text } = await caller.post(path, { email: `${newId()}@example.com`, role: 'viewer' });
  if (status !== 201) throw new Error(`the invitation answered ${status}: ${text}`);
  return body.invitation.id;
}

function noPlugin() {
  return {
    plugin: newId(),
    pluginAction: newId(),
    pluginGrant: newId(),
    pluginBackground: newId(),
    pluginResource: newId(),
  };
}

/** Tells the administrator how a run ended. */
async function addNotification({ orm }: Pick<TestApi, 'orm'>, { id: user }: Person, run: string): Promise<string> {
  const id = newId();
  await orm.em.fork().execute(
    `insert into notifications (id, user_id, kind, subject_kind, subject_id, title, cause, created_at)
     values (?, ?, 'run.finished', 'run', ?, 'The run of network failed', ?, now())`,
    [id, user, run, id],
  );
  return id;
}

async function placeIn(
  { orm }: Pick<TestApi, 'orm'>,
  { organization, team }: { organization?: string; team?: string },
) {
  if (organization && team) return { organization, team };
  const added = await addTeam(orm, organization);
  return { organization: added.organizationId, team: added.teamId };
}

/** The record of the command that created a resource. */
async function findAuditRecord({ orm }: Pick<TestApi, 'orm'>, resourceId: string): Promise<string> {
  const sql = 'select id from audit_records where resource_id = ?';
  const [record] = await orm.em.fork().execute<{ id: string }[]>(sql, [resourceId]);
  if (!record) throw new Error(`no audit record names the resource ${resourceId}`);
  return record.id;
}
