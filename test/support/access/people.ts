import { randomUUID } from 'node:crypto';
import type { Orm } from '#database/database.ts';
import { Environment } from '#domain/environments/entity.ts';
import { issueApiKey } from '#domain/identity/api-keys/api-keys.ts';
import { PrincipalRecord } from '#domain/identity/entity.ts';
import { hashPassword } from '#domain/identity/passwords/passwords.ts';
import { createUser } from '#domain/identity/users/users.ts';
import { OrganizationMember, TeamMember } from '#domain/members/entity.ts';
import { Organization } from '#domain/organizations/entity.ts';
import { Project } from '#domain/projects/entity.ts';
import { ServiceAccount } from '#domain/service-accounts/entity.ts';
import { newId } from '#domain/shared/ids.ts';
import type { ApprovalRule } from '#domain/shared/vocabulary/approval.ts';
import { toPolicyFields } from '#domain/shared/vocabulary/approval.ts';
import type { OrganizationRole, PlatformRole, TeamRole } from '#domain/shared/vocabulary/roles.ts';
import { Team } from '#domain/teams/entity.ts';
import { Caller } from '../api/caller.ts';

export interface Memberships {
  readonly teams?: Record<string, TeamRole>;
  readonly organizations?: Record<string, OrganizationRole>;
}

/** A user or a service account with an API key. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly key: string;
  readonly keyId: string;
  readonly caller: Caller;
}

/** Adds a user directly to the database of a running API, so that only the API is tested. */
export async function addPerson(
  api: { url: string; orm: Orm },
  role: PlatformRole,
  memberships: Memberships = {},
  password?: string,
): Promise<Person> {
  const em = api.orm.em.fork();
  const email = `${role}-${randomUUID()}@example.com`;
  const passwordHash = password === undefined ? 'none' : await hashPassword(password);
  const { principal } = await createUser(em, { email, name: email, role, passwordHash });
  await addMemberships(api.orm, principal.id, memberships);
  return { email, ...(await addKey(api, principal.id)) };
}

/**
 * Adds a service account with a key. A team's account is in its team only. A user's account is in the given teams and
 * organizations, with the role there that its platform role gives; its owner is a new user unless given.
 */
export async function addServiceAccount(
  api: { url: string; orm: Orm },
  role: PlatformRole,
  memberships: Memberships = {},
  owner: { userId: string } | { teamId: string } | null = null,
): Promise<Person> {
  const { userId = null, teamId = null } = { userId: null, teamId: null, ...(owner ?? (await addOwner(api))) };
  const em = api.orm.em.fork();
  const principal = em.create(PrincipalRecord, { id: newId(), kind: 'service_account', name: `account-${role}`, role });
  await em.persist(principal).flush();
  const account = { id: principal.id, ownerUserId: userId, ownerTeamId: teamId, createdBy: userId ?? principal.id };
  await em.persist(em.create(ServiceAccount, account)).flush();
  await addMemberships(api.orm, principal.id, memberships);
  return { email: '', ...(await addKey(api, principal.id)) };
}

async function addOwner(api: { url: string; orm: Orm }): Promise<{ userId: string }> {
  const { id } = await addPerson(api, 'requester');
  return { userId: id };
}

async function addMemberships(orm: Orm, principalId: string, { teams = {}, organizations = {} }: Memberships) {
  const em = orm.em.fork();
  for (const [teamId, role] of Object.entries(teams))
    em.persist(em.create(TeamMember, { id: newId(), teamId, principalId, role }));
  for (const [organizationId, role] of Object.entries(organizations))
    em.persist(em.create(OrganizationMember, { id: newId(), organizationId, principalId, role }));
  await em.flush();
}

export async function addKey({ url, orm }: { url: string; orm: Orm }, principalId: string) {
  const em = orm.em.fork();
  const { key, apiKey } = issueApiKey(em, { principalId, name: 'test', expiresAt: null, issuedBy: principalId });
  await em.flush();
  return { id: principalId, key, keyId: apiKey.id, caller: new Caller(url, { 'x-api-key': key }) };
}

/** Adds a team, in a new organization unless one is given. */
export async function addTeam(orm: Orm, organization?: string): Promise<{ organizationId: string; teamId: string }> {
  const em = orm.em.fork();
  const [organizationId, teamId] = [organization ?? newId(), newId()];
  const name = `team-${teamId.slice(-12)}`;
  if (!organization) await em.persist(em.create(Organization, { id: organizationId, name, slug: name })).flush();
  await em.persist(em.create(Team, { id: teamId, organizationId, name, slug: name })).flush();
  return { organizationId, teamId };
}

export interface Policy {
  readonly required: number;
  readonly when?: ApprovalRule;
  readonly allowSelf?: boolean;
}

/** Adds an environment of a team, in a new project. */
export async function addEnvironment(
  orm: Orm,
  teamId: string,
  { required, when = 'always', allowSelf = false }: Policy = { required: 0 },
): Promise<{ projectId: string; environmentId: string }> {
  const em = orm.em.fork();
  const [projectId, environmentId] = [newId(), newId()];
  const slug = `e-${environmentId.slice(-12)}`;
  await em.persist(em.create(Project, { id: projectId, teamId, name: slug, slug })).flush();
  const approval = toPolicyFields({ required, when, allow_self: allowSelf });
  const environment = em.create(Environment, {
    id: environmentId,
    projectId,
    name: slug,
    slug,
    kind: 'development',
    ...approval,
  });
  await em.persist(environment).flush();
  return { projectId, environmentId };
}

let made = 0;

/** Publishes a template with one version, 1.0.0, of the given spec. */
export async function publish(publisher: Caller, spec: object, teamId?: string): Promise<string> {
  const slug = `template-${made++}`;
  const template = await publisher.post('/registry/templates', {
    name: slug,
    slug,
    ...(teamId && { team_id: teamId }),
  });
  if (template.status !== 201) throw new Error(`no template: ${template.text}`);
  const { id } = template.body;
  const version = await publisher.post(`/registry/templates/${id}/versions`, { version: '1.0.0', spec });
  if (version.status !== 201) throw new Error(`no version: ${version.text}`);
  return id;
}

/** The smallest template: one step that prints a line. */
export const sayHello = { executor: { kind: 'command', apply: [{ name: 'hello', run: ['echo', 'hello'] }] } };
