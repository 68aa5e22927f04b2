import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import { Environment } from '#domain/environments/entity.ts';
import { PrincipalRecord } from '#domain/identity/entity.ts';
import { Organization } from '#domain/organizations/entity.ts';
import { Project } from '#domain/projects/entity.ts';
import { Team } from '#domain/teams/entity.ts';
import type { Basis } from './assignments/basis.ts';
import type { ApprovedAction, ApprovedExecution } from './ceilings/model.ts';
import type { OwnerNames, Root, SelectorType, SubjectType } from './model.ts';
import type { RestorationProblem, RestorationState } from './restorations/model.ts';

/** The columns that record whose share of a plugin a row uses. An index serves the counts. */
const shareColumns = {
  /** The team, or else the organization, that owned the place when this row was created. It never changes: a transfer ends the row. */
  ownerId: p.uuid(),
  /** False once the row was found to have ended: it never revives, so it need not be checked again. */
  counted: p.boolean().default(true),
};
/** `isCounted` is the same condition in a query. */
const countedColumns = { owner: 'owner_id', condition: '"counted" and "revoked_at" is null' };

function shareIndex(table: string, { owner, condition }: typeof countedColumns) {
  const name = `${table}_share_index`;
  const expression = `create index "${name}" on "${table}" ("installation_id", "${owner}") where ${condition}`;
  return { name, expression };
}

/** A plugin that an organization or a team has installed. */
export const PluginInstallationSchema = defineEntity({
  name: 'PluginInstallation',
  tableName: 'plugin_installations',
  checks: [
    { name: 'plugin_installations_owner_check', expression: '("organization_id" is null) <> ("team_id" is null)' },
  ],
  uniques: [
    {
      name: 'plugin_installations_owner_name_unique',
      expression: `create unique index "plugin_installations_owner_name_unique" on "plugin_installations" ("organization_id", "team_id", "name") nulls not distinct where "deleted_at" is null`,
    },
  ],
  indexes: [{ name: 'plugin_installations_team_id_index', properties: ['teamId'] }],
  properties: {
    id: id(),
    organizationId: () =>
      p.manyToOne(Organization).mapToPk().fieldName('organization_id').deleteRule('restrict').nullable(),
    teamId: () => p.manyToOne(Team).mapToPk().fieldName('team_id').deleteRule('restrict').nullable(),
    name: p.string(),
    /** The active release; null: none was activated yet. */
    activeRelease: p.text().nullable(),
    /** Only an activation and the removal raise it. They end earlier approvals and assignments. */
    revision: revision(),
    createdBy: p.uuid(),
    createdAt: createdAt(),
    /**
     * When the plugin was removed, which is permanent. The row remains as a record of what was approved and assigned, but has no effect.
     */
    deletedAt: at().nullable(),
    deletedBy: p.uuid().nullable(),
  },
});
export class PluginInstallation extends PluginInstallationSchema.class {}
PluginInstallationSchema.setClass(PluginInstallation);

/** A release that an installation knows: its digest, and its manifest once somebody has staged it. */
export const PluginReleaseSchema = defineEntity({
  name: 'PluginRelease',
  tableName: 'plugin_releases',
  uniques: [{ name: 'plugin_releases_release_unique', properties: ['installationId', 'release'] }],
  properties: {
    id: id(),
    installationId: () => p.manyToOne(PluginInstallation).mapToPk().fieldName('installation_id').deleteRule('restrict'),
    release: p.text(),
    /** `sha256:…` of the manifest's bytes. */
    digest: p.text(),
    /** The exact bytes; null: only the digest is known. */
    manifest: p.blob().nullable(),
    stagedBy: p.uuid(),
    stagedAt: at(),
  },
});
export class PluginRelease extends PluginReleaseSchema.class {}
PluginReleaseSchema.setClass(PluginRelease);

/** An action by its name. It keeps its id over all releases. */
export const PluginActionSchema = defineEntity({
  name: 'PluginAction',
  tableName: 'plugin_actions',
  uniques: [{ name: 'plugin_actions_name_unique', properties: ['installationId', 'name'] }],
  properties: {
    id: id(),
    installationId: () => p.manyToOne(PluginInstallation).mapToPk().fieldName('installation_id').deleteRule('restrict'),
    name: p.text(),
    selectors: p.json<SelectorType[]>(),
    effects: p.json<string[]>(),
    /** Whether the active release declares it. */
    isDeclared: p.boolean(),
    /** Raised whenever a release that declares it is activated. */
    revision: revision(),
  },
});
export class PluginAction extends PluginActionSchema.class {}
PluginActionSchema.setClass(PluginAction);

/** The parts of one release of an installation that an administrator has approved. */
export const PluginCeilingSchema = defineEntity({
  name: 'PluginCeiling',
  tableName: 'plugin_ceilings',
  properties: {
    installationId: () =>
      p.oneToOne(PluginInstallation).owner().primary().mapToPk().fieldName('installation_id').deleteRule('restrict'),
    release: p.text(),
    installationRevision: p.integer(),
    actions: p.json<ApprovedAction[]>(),
    executions: p.json<ApprovedExecution[]>(),
    revision: revision(),
    setBy: p.uuid(),
    setAt: at(),
  },
});
export class PluginCeiling extends PluginCeilingSchema.class {}
PluginCeilingSchema.setClass(PluginCeiling);

/** A principal that acts for a plugin without a request. It has no credential, and no authority except its assignments. */
export const PluginBackgroundPrincipalSchema = defineEntity({
  name: 'PluginBackgroundPrincipal',
  tableName: 'plugin_background_principals',
  indexes: [
    { name: 'plugin_background_principals_installation_index', properties: ['installationId', 'id'] },
    shareIndex('plugin_background_principals', countedColumns),
  ],
  properties: {
    id: () => p.oneToOne(PrincipalRecord).owner().primary().mapToPk().fieldName('id').deleteRule('restrict'),
    installationId: () => p.manyToOne(PluginInstallation).mapToPk().fieldName('installation_id').deleteRule('restrict'),
    selectorType: p.string().$type<SelectorType>(),
    selectorId: p.uuid(),
    /** The generations of its place when it was approved: once they have changed, nothing can be assigned to it. */
    scopeBasis: p.text(),
    ...shareColumns,
    approvedBy: p.uuid(),
    revokedBy: p.uuid().nullable(),
    revokedAt: at().nullable(),
    revision: revision(),
    createdAt: createdAt(),
  },
});
export class PluginBackgroundPrincipal extends PluginBackgroundPrincipalSchema.class {}
PluginBackgroundPrincipalSchema.setClass(PluginBackgroundPrincipal);

/** An action that was assigned to somebody at a place. It is in force as long as nothing that `basis` names has changed. */
export const PluginActionGrantSchema = defineEntity({
  name: 'PluginActionGrant',
  tableName: 'plugin_action_grants',
  indexes: [
    { name: 'plugin_action_grants_installation_index', properties: ['installationId', 'id'] },
    { name: 'plugin_action_grants_subject_index', properties: ['actionId', 'subjectId'] },
    shareIndex('plugin_action_grants', countedColumns),
  ],
  properties: {
    id: id(),
    installationId: () => p.manyToOne(PluginInstallation).mapToPk().fieldName('installation_id').deleteRule('restrict'),
    actionId: () => p.manyToOne(PluginAction).mapToPk().fieldName('action_id').deleteRule('restrict'),
    subjectType: p.string().$type<SubjectType>(),
    subjectId: () => p.manyToOne(PrincipalRecord).mapToPk().fieldName('subject_id').deleteRule('restrict'),
    selectorType: p.string().$type<SelectorType>(),
    selectorId: p.uuid(),
    basis: p.json<Basis>(),
    ...shareColumns,
    grantedBy: p.uuid(),
    revokedBy: p.uuid().nullable(),
    revokedAt: at().nullable(),
    revision: revision(),
    createdAt: createdAt(),
  },
});
export class PluginActionGrant extends PluginActionGrantSchema.class {}
PluginActionGrantSchema.setClass(PluginActionGrant);

/** Something that a plugin manages for a team, a project or an environment. The plugin's own tables hold its data. */
export const PluginResourceSchema = defineEntity({
  name: 'PluginResource',
  tableName: 'plugin_resources',
  uniques: [
    {
      name: 'plugin_resources_key_unique',
      expression: `create unique index "plugin_resources_key_unique" on "plugin_resources" ("installation_id", "type", "key") where "deleted_at" is null`,
    },
  ],
  indexes: [
    { name: 'plugin_resources_installation_index', properties: ['installationId', 'id'] },
    { name: 'plugin_resources_team_id_index', properties: ['teamId', 'id'] },
    { name: 'plugin_resources_project_id_index', properties: ['projectId', 'id'] },
    { name: 'plugin_resources_environment_id_index', properties: ['environmentId', 'id'] },
    shareIndex('plugin_resources', { owner: 'team_id', condition: '"deleted_at" is null' }),
  ],
  properties: {
    id: id(),
    installationId: () => p.manyToOne(PluginInstallation).mapToPk().fieldName('installation_id').deleteRule('restrict'),
    type: p.text(),
    name: p.string(),
    key: p.text(),
    /** The roots as the release declared them that was active when the resource was created. */
    roots: p.json<Root[]>(),
    teamId: () => p.manyToOne(Team).mapToPk().fieldName('team_id').deleteRule('restrict'),
    projectId: () => p.manyToOne(Project).mapToPk().fieldName('project_id').deleteRule('restrict').nullable(),
    environmentId: () =>
      p.manyToOne(Environment).mapToPk().fieldName('environment_id').deleteRule('restrict').nullable(),
    revision: revision(),
    eligibilityGeneration: p.integer().default(1),
    createdBy: p.uuid(),
    createdAt: createdAt(),
    deletedAt: at().nullable(),
    /** The owners at its deletion: it can be restored only for them. */
    deletedFrom: p.json<OwnerNames>().nullable(),
  },
});
export class PluginResource extends PluginResourceSchema.class {}
PluginResourceSchema.setClass(PluginResource);

/** A request to restore a resource, under its key, which is the id of the workflow that carries it out. */
export const PluginRestorationSchema = defineEntity({
  name: 'PluginRestoration',
  tableName: 'plugin_restorations',
  indexes: [{ name: 'plugin_restorations_resource_index', properties: ['resourceId'] }],
  properties: {
    id: id(),
    resourceId: () => p.manyToOne(PluginResource).mapToPk().fieldName('resource_id').deleteRule('restrict'),
    /** The command as it was requested (`StoredRestore`), without secrets. */
    request: p.json<Record<string, unknown>>(),
    requestedBy: p.uuid(),
    status: p.string().$type<RestorationState>(),
    problem: p.json<RestorationProblem>().nullable(),
    createdAt: createdAt(),
    endedAt: at().nullable(),
  },
});
export class PluginRestoration extends PluginRestorationSchema.class {}
PluginRestorationSchema.setClass(PluginRestoration);
