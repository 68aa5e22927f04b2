import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { WantedTool } from '#domain/tools/model.ts';
import type { MaskedAddresses } from './state-file/shown-resource.ts';

/** What runs deploy. An instance has a state, and a name in an environment or, without an environment, under a template. */
export const InstanceSchema = defineEntity({
  name: 'Instance',
  tableName: 'instances',
  uniques: [
    {
      name: 'instances_environment_name_unique',
      expression:
        'create unique index "instances_environment_name_unique" on "instances" ("environment_id", "name") where "environment_id" is not null',
    },
    {
      name: 'instances_template_name_unique',
      expression:
        'create unique index "instances_template_name_unique" on "instances" ("template_id", "name") where "environment_id" is null',
    },
  ],
  indexes: [
    {
      name: 'instances_team_id_index',
      expression: `create index "instances_team_id_index" on "instances" ("team_id") where "deleted_at" is null`,
    },
  ],
  properties: {
    id: id(),
    teamId: p.uuid().nullable(),
    environmentId: p.uuid().nullable(),
    /** The template that deployed it. While it holds resources, other templates are refused. */
    templateId: p.uuid(),
    /** Unique in its environment or under its template. Deletion appends the id, which frees the name. */
    name: p.string(),
    /** The kind of tool that wrote its state; another kind is refused. */
    tool: p.string().nullable(),
    /** The version of that tool; null: it is not known. */
    toolVersion: p.string().nullable(),
    /** The tool that its runs use; null: the tool of their template and environment. */
    wantedTool: p.json<WantedTool>().nullable(),
    /** The position that the next admitted run gets in its queue. */
    nextPosition: p.integer().default(1),
    stateSerial: p.integer().default(0),
    resourceCount: p.integer().default(0),
    /**
     * The serial of the state whose resources are listed. It differs from `stateSerial` if an earlier release, which listed none, wrote the
     * latest state.
     */
    resourcesSerial: p.integer().nullable(),
    outputs: p.json<MaskedOutputs>(),
    sealedOutputs: p.blob().nullable().hidden(),
    /** The last apply or destroy that succeeded, even if it changed nothing. Until one has succeeded, the first that wrote a state. */
    deployedRunId: p.uuid().nullable(),
    /** The first run after that deployment that may have changed the instance without succeeding completely; null: there is none. */
    unrecordedRunId: p.uuid().nullable(),
    unrecordedAt: at().nullable(),
    /** The deployment whose inputs have changed: outputs of other instances that it read have changed, or may no longer be read. */
    inputsChangedRunId: p.uuid().nullable(),
    /** The teams and environments whose runs may read its outputs. */
    readerTeamIds: p.json<readonly string[]>().default([]),
    readerEnvironmentIds: p.json<readonly string[]>().default([]),
    /** The owners of the instance who allowed these readers. If a transfer gave the instance to other owners, nobody may read it. */
    readersOrganizationId: p.uuid().nullable(),
    readersTeamId: p.uuid().nullable(),
    /** When a transfer voided the readers, even if the instance has returned since; null: the readers count. */
    readersVoidSince: at().nullable(),
    revision: revision(),
    createdAt: createdAt(),
    deletedAt: at().nullable(),
  },
});
export class Instance extends InstanceSchema.class {}
InstanceSchema.setClass(Instance);

/** The run that may change an instance now: each instance has at most one. The row is deleted when the run ends. */
export const InstanceSlotSchema = defineEntity({
  name: 'InstanceSlot',
  tableName: 'instance_slots',
  properties: {
    instanceId: () => p.oneToOne(Instance).owner().primary().mapToPk().fieldName('instance_id').deleteRule('restrict'),
    runId: p.uuid().unique(),
    acquiredAt: at(),
  },
});
export class InstanceSlot extends InstanceSlotSchema.class {}
InstanceSlotSchema.setClass(InstanceSlot);

export const StateVersionSchema = defineEntity({
  name: 'StateVersion',
  tableName: 'state_versions',
  properties: {
    instanceId: () => p.manyToOne(Instance).primary().mapToPk().fieldName('instance_id').deleteRule('restrict'),
    serial: p.integer().primary(),
    /** Null for an imported state. */
    runId: p.uuid().nullable(),
    /** The attempt that wrote it, and the number of the write in the attempt. Both together make a repeated write one row. */
    attemptId: p.uuid().nullable(),
    attemptWrite: p.integer().nullable(),
    digest: p.string(),
    size: p.integer(),
    resourceCount: p.integer(),
    content: p.blob().hidden(),
    /** The addresses of resources with their secrets masked. Null if no attempt wrote the state, or if an earlier release stored it. */
    maskedAddresses: p.json<MaskedAddresses>().nullable(),
    createdBy: p.uuid().nullable(),
    createdAt: createdAt(),
  },
  uniques: [{ name: 'state_versions_attempt_write_unique', properties: ['attemptId', 'attemptWrite'] }],
});
export class StateVersion extends StateVersionSchema.class {}
StateVersionSchema.setClass(StateVersion);

/** A resource of an instance, as its latest state lists it. Attributes are not stored, because they may be secrets. */
export const InstanceResourceSchema = defineEntity({
  name: 'InstanceResource',
  tableName: 'instance_resources',
  properties: {
    /** A resource that stays in later states keeps its id. */
    id: id(),
    instanceId: () => p.manyToOne(Instance).mapToPk().fieldName('instance_id').deleteRule('restrict'),
    /** The team of the instance. */
    teamId: p.uuid().nullable(),
    address: p.text(),
    module: p.text().nullable(),
    type: p.string(),
    name: p.string(),
    provider: p.string().nullable(),
  },
  indexes: [
    { name: 'instance_resources_instance_id_id_index', properties: ['instanceId', 'id'] },
    { name: 'instance_resources_team_id_id_index', properties: ['teamId', 'id'] },
    { name: 'instance_resources_team_id_type_id_index', properties: ['teamId', 'type', 'id'] },
    {
      name: 'instance_resources_words_index',
      expression: `create index "instance_resources_words_index" on "instance_resources" using gin ((to_tsvector('simple', regexp_replace(lower("address"), '[^[:alnum:]]+', ' ', 'g')) || array_to_tsvector(array[coalesce("team_id"::text, '-')])))`,
    },
  ],
});
export class InstanceResource extends InstanceResourceSchema.class {}
InstanceResourceSchema.setClass(InstanceResource);
