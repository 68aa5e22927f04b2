import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import type { StatusDetail } from '#domain/runs/diagnostics/status-detail.ts';
import type { RunAuthor } from '#domain/runs/model.ts';
import { findDifference } from '#domain/shared/revisions.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Masked, MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { PrincipalKind } from '#domain/shared/vocabulary/roles.ts';
import { isTerminal, type RunStatus } from '#domain/shared/vocabulary/runs.ts';
import { Team } from '#domain/teams/entity.ts';
import type { ChangeOf } from '#domain/tenancy/model.ts';
import {
  type AssemblyOperation,
  type AssemblyRunReason,
  type assemblyFields,
  assemblyRunTransitions,
  type NodeReason,
  type NodeStatus,
  type NodeWaiting,
} from './model.ts';
import type { AssemblyNodeSpec, AssemblySpec } from './spec/spec.ts';

export const AssemblySchema = defineEntity({
  name: 'Assembly',
  tableName: 'assemblies',
  uniques: [
    {
      name: 'assemblies_team_slug_unique',
      expression:
        'create unique index "assemblies_team_slug_unique" on "assemblies" ("team_id", "slug") where "deleted_at" is null',
    },
  ],
  indexes: [{ name: 'assemblies_team_id_index', properties: ['teamId', 'id'] }],
  properties: {
    id: id(),
    teamId: () => p.manyToOne(Team).mapToPk().fieldName('team_id').deleteRule('restrict'),
    name: p.string(),
    slug: p.string(),
    description: p.text().default(''),
    /** The draft as somebody wrote it, in YAML or JSON. Null: there is none yet. */
    draftSource: p.text().nullable().lazy(),
    /** The parsed text. It need not be a valid spec. */
    draftSpec: p.json<JsonValue>().nullable().lazy(),
    draftRevision: p.integer().default(0),
    draftChangedBy: p.uuid().nullable(),
    draftChangedAt: at().nullable(),
    revision: revision(),
    createdAt: createdAt(),
    archivedAt: at().nullable(),
    deletedAt: at().nullable(),
  },
});

/** The fields of an assembly that people can change. */
export type AssemblyFields = Pick<Assembly, (typeof assemblyFields)[number]>;

export class Assembly extends AssemblySchema.class {
  /** Changes the fields that are present; false if nothing differs, so that there is no new revision. */
  change(wanted: ChangeOf<AssemblyFields>): boolean {
    const { after, isEmpty } = findDifference<AssemblyFields>(this, wanted);
    if (isEmpty) return false;
    Object.assign(this, after);
    this.revision += 1;
    return true;
  }

  /** Replaces the draft, whose text is loaded; false if the text is the same. The draft has a revision of its own. */
  saveDraft({ source, spec }: { readonly source: string; readonly spec: JsonValue }, by: string): boolean {
    if (this.draftSource === source) return false;
    this.draftSource = source;
    this.draftSpec = spec;
    this.draftRevision += 1;
    this.draftChangedBy = by;
    this.draftChangedAt = new Date();
    return true;
  }
}
AssemblySchema.setClass(Assembly);

/** The exact version of a template that a node of a published version runs. */
export interface ChosenTemplate {
  readonly templateId: string;
  readonly versionId: string;
  readonly version: string;
}

/** A published version. Its row never changes. */
export const AssemblyVersionSchema = defineEntity({
  name: 'AssemblyVersion',
  tableName: 'assembly_versions',
  uniques: [{ name: 'assembly_versions_assembly_version_unique', properties: ['assemblyId', 'version'] }],
  properties: {
    id: id(),
    assemblyId: () => p.manyToOne(Assembly).mapToPk().fieldName('assembly_id').deleteRule('restrict'),
    version: p.string(),
    spec: p.json<AssemblySpec>(),
    /** The draft's text at publication. */
    source: p.text().lazy(),
    /** The template version of each node, by the node's key. */
    templates: p.json<Record<string, ChosenTemplate>>(),
    /** The keys of the nodes for which each node waits. */
    dependencies: p.json<Record<string, string[]>>(),
    /** `sha256:…` over spec and templates: versions with the same digest have the same effect. */
    digest: p.string(),
    changelog: p.text().default(''),
    publishedBy: p.uuid(),
    /** The person responsible for the publisher at that time. */
    responsibleUserId: p.uuid().nullable(),
    createdAt: createdAt(),
  },
});
export class AssemblyVersion extends AssemblyVersionSchema.class {}
AssemblyVersionSchema.setClass(AssemblyVersion);

export const AssemblyRunSchema = defineEntity({
  name: 'AssemblyRun',
  tableName: 'assembly_runs',
  indexes: [
    { name: 'assembly_runs_assembly_id_index', properties: ['assemblyId', 'id'] },
    { name: 'assembly_runs_environment_id_index', properties: ['environmentId', 'id'] },
    { name: 'assembly_runs_team_id_index', properties: ['teamId', 'id'] },
    {
      name: 'assembly_runs_unfinished_index',
      expression: `create index "assembly_runs_unfinished_index" on "assembly_runs" ("id") where "finished_at" is null`,
    },
  ],
  properties: {
    id: id(),
    /** The key of the request that started it. */
    idempotencyKey: p.uuid().unique(),
    /** The workflow that drives it: named by the key of the request that started or last resumed it. */
    workflowId: p.uuid().unique(),
    assemblyId: () => p.manyToOne(Assembly).mapToPk().fieldName('assembly_id').deleteRule('restrict'),
    assemblyVersionId: () =>
      p.manyToOne(AssemblyVersion).mapToPk().fieldName('assembly_version_id').deleteRule('restrict'),
    version: p.string(),
    teamId: p.uuid(),
    projectId: p.uuid(),
    environmentId: p.uuid(),
    operation: p.string().$type<AssemblyOperation>(),
    status: p.string().$type<RunStatus>(),
    statusReason: p.string().$type<AssemblyRunReason>().nullable(),
    /** The nodes that failed, and why. */
    statusDetail: p.json<StatusDetail>().nullable(),
    /** The keys of the nodes that take part; null: all. */
    only: p.json<string[]>().nullable(),
    concurrency: p.integer(),
    variables: p.json<Record<string, JsonValue | Masked>>(),
    /** Sealed: the variables, secrets included. */
    sealedVariables: p.blob().hidden(),
    outputs: p.json<MaskedOutputs>(),
    message: p.text().default(''),
    /** Who started it. */
    requestedById: p.uuid(),
    requestedByType: p.string().$type<PrincipalKind>(),
    requestedByName: p.string(),
    /** The principal whose authority its nodes use: the one who started or last resumed it. */
    authorityId: p.uuid(),
    credentialId: p.uuid().nullable(),
    responsibleUserId: p.uuid().nullable(),
    /** Everybody who started or resumed it, or published its version. None of them may approve its runs. */
    authors: p.json<RunAuthor[]>(),
    cancelReason: p.text().nullable(),
    /** The name of who canceled it. */
    canceledByName: p.string().nullable(),
    revision: revision(),
    createdAt: createdAt(),
    startedAt: at().nullable(),
    finishedAt: at().nullable(),
  },
});
export class AssemblyRun extends AssemblyRunSchema.class {
  /** Changes the status along a transition of the state table; the same status again changes nothing. */
  moveTo(status: RunStatus): boolean {
    if (this.status === status) return false;
    if (!assemblyRunTransitions[this.status].includes(status))
      throw new Error(`the assembly run ${this.id} cannot go from ${this.status} to ${status}`);
    this.status = status;
    this.revision += 1;
    return true;
  }

  isFinished(): boolean {
    return isTerminal(this.status);
  }
}
AssemblyRunSchema.setClass(AssemblyRun);

/** A node of an assembly run. */
export const AssemblyNodeSchema = defineEntity({
  name: 'AssemblyNode',
  tableName: 'assembly_nodes',
  uniques: [{ name: 'assembly_nodes_run_key_unique', properties: ['assemblyRunId', 'key'] }],
  properties: {
    id: id(),
    assemblyRunId: () => p.manyToOne(AssemblyRun).mapToPk().fieldName('assembly_run_id').deleteRule('restrict'),
    key: p.string(),
    /** Its position in an order in which each node comes after those that it waits for. */
    position: p.integer(),
    /** The keys of the nodes that it waits for. */
    dependencies: p.json<string[]>(),
    spec: p.json<AssemblyNodeSpec>(),
    templateId: p.uuid(),
    templateVersionId: p.uuid(),
    templateVersion: p.string(),
    instance: p.string(),
    status: p.string().$type<NodeStatus>(),
    reason: p.json<NodeReason>().nullable(),
    waiting: p.json<NodeWaiting>().nullable(),
    /** Its latest run. */
    runId: p.uuid().nullable(),
    /** How many runs it has had since the assembly run was started or resumed. */
    attempts: p.integer().default(0),
    nextAttemptAt: at().nullable(),
    startedAt: at().nullable(),
    finishedAt: at().nullable(),
  },
});
export class AssemblyNode extends AssemblyNodeSchema.class {}
AssemblyNodeSchema.setClass(AssemblyNode);
