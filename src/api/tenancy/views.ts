import { z } from 'zod';
import { Time } from '#api/pipeline/schemas.ts';
import { environmentKinds, variableCategories } from '#domain/environments/model.ts';
import type { EnvironmentTarget } from '#domain/environments/store.ts';
import type { ShownVariable } from '#domain/environments/variable-changes.ts';
import type { Member } from '#domain/members/members.ts';
import { organizationRoles } from '#domain/organizations/model.ts';
import type { OrganizationTarget } from '#domain/organizations/store.ts';
import type { ProjectTarget } from '#domain/projects/store.ts';
import { approvalRules } from '#domain/registry/spec.ts';
import { formatDuration } from '#domain/shared/durations.ts';
import { teamRoles } from '#domain/teams/model.ts';
import type { TeamTarget } from '#domain/teams/store.ts';
import { DemandedIsolation } from '#domain/workers/model.ts';

/** What every thing of the tenancy has. */
const common = {
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  revision: z.int(),
  created_at: Time,
  archived_at: Time.nullable(),
};

interface Common {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly revision: number;
  readonly createdAt: string;
  readonly archivedAt: string | null;
}

function viewCommon({ id, name, slug, revision, createdAt, archivedAt }: Common) {
  return { id, name, slug, revision, created_at: createdAt, archived_at: archivedAt };
}

export const OrganizationView = z.object(common);

export function viewOrganization(organization: OrganizationTarget) {
  return viewCommon(organization);
}

export const TeamView = z.object({ ...common, organization_id: z.string() });

export function viewTeam(team: TeamTarget) {
  return { ...viewCommon(team), organization_id: team.organizationId };
}

export const ProjectView = z.object({
  ...common,
  organization_id: z.string(),
  team_id: z.string(),
  description: z.string(),
});

export function viewProject(project: ProjectTarget) {
  const { organizationId, teamId, description } = project;
  return { ...viewCommon(project), organization_id: organizationId, team_id: teamId, description };
}

export const EnvironmentView = z.object({
  ...common,
  organization_id: z.string(),
  team_id: z.string(),
  project_id: z.string(),
  kind: z.enum(environmentKinds),
  approval_policy: z.object({ required: z.int(), when: z.enum(approvalRules), allow_self: z.boolean() }),
  ttl: z.string().nullable(),
  isolation: DemandedIsolation.describe('What a worker must have to execute its runs; null: nothing.'),
});

export function viewEnvironment(environment: EnvironmentTarget) {
  const { organizationId, teamId, projectId, kind, ttlSeconds, isolation } = environment;
  const { approvalRequired: required, approvalWhen: when, approvalAllowSelf } = environment;
  return {
    ...viewCommon(environment),
    ...{ organization_id: organizationId, team_id: teamId, project_id: projectId, kind },
    approval_policy: { required, when, allow_self: approvalAllowSelf },
    ttl: ttlSeconds === null ? null : formatDuration(ttlSeconds),
    isolation,
  };
}

export const VariableView = z.object({
  name: z.string(),
  category: z.enum(variableCategories),
  sensitive: z.boolean(),
  value: z.json().nullable().describe('Null for a sensitive variable: its value is never shown again.'),
  revision: z.int(),
  updated_at: Time,
});

export function viewVariable({ name, category, sensitive, value, revision, updatedAt }: ShownVariable) {
  return { name, category, sensitive, value, revision, updated_at: updatedAt };
}

const memberFields = {
  id: z.string().describe('Of the membership; another one at every join.'),
  type: z.enum(['user', 'service_account']),
  user_id: z.string().describe('Of the user or the service account.'),
  name: z.string(),
  email: z.string().nullable().describe('Null for a service account.'),
  enabled: z.boolean(),
  created_at: Time,
};

export const OrganizationMemberView = z.object({ ...memberFields, role: z.enum(organizationRoles) });
export const TeamMemberView = z.object({ ...memberFields, role: z.enum(teamRoles) });

export function viewMember<Role extends string>({ userId, createdAt, ...member }: Member<Role>) {
  return { ...member, user_id: userId, created_at: createdAt };
}
