import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import type { WantedTool } from '#domain/tools/model.ts';
import type { MaskedAddresses } from './state-file/shown-resource.ts';

/** What runs deploy: it has a name in an environment (or, without one, under a template), and a state. */
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
    /** The tool that runs of it use; null: that of their template and environment. */
    wantedTool: p.json<WantedTool>().nullable(),
    /** The position in its queue that the next admitted run gets. */
    nextPosition: p.integer().default(1),
    stateSerial: p.integer().default(0),
    resourceCount: p.integer().default(0),
    /** The state whose resources are listed; differs from `stateSerial` after a release that listed none. */
    resourcesSerial: p.integer().nullable(),
    outputs: p.json<MaskedOutputs>(),
    sealedOutputs: p.blob().nullable().hidden(),
    /** The last apply or destroy that succeeded, also if it changed nothing; of the first, also one that did not. */
    deployedRunId: p.uuid().nullable(),
    /** The run that began to apply and did not succeed, since when the instance may differ from that deployment; null otherwise. */
    unrecordedRunId: p.uuid().nullable(),
    unrecordedAt: at().nullable(),
    /** The deployment whose inputs changed: outputs of other instances that it was given are other ones by now, or not to be read any longer. */
    inputsChangedRunId: p.uuid().nullable(),
    /** The teams and environments whose runs may read its outputs. */
    readerTeamIds: p.json<readonly string[]>().default([]),
    readerEnvironmentIds: p.json<readonly string[]>().default([]),
    /** The owners for whom they were allowed. For others, to whom the instance came with a transfer, nobody reads it. */
    readersOrganizationId: p.uuid().nullable(),
    readersTeamId: p.uuid().nullable(),
    /** When a transfer voided them, also if the instance has come back since; null: they count. */
    readersVoidSince: at().nullable(),
    revision: revision(),
    createdAt: createdAt(),
    deletedAt: at().nullable(),
  },
});
export class Instance extends InstanceSchema.class {}
InstanceSchema.setClass(Instance);

/** One instance, one writer: the run that may change the instance now. The row is deleted when the run ends. */
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
    /** What is shown in place of secrets in the addresses of its resources. Null where no attempt wrote the state, or an earlier release stored it. */
    maskedAddresses: p.json<MaskedAddresses>().nullable(),
    createdBy: p.uuid().nullable(),
    createdAt: createdAt(),
  },
  uniques: [{ name: 'state_versions_attempt_write_unique', properties: ['attemptId', 'attemptWrite'] }],
});
export class StateVersion extends StateVersionSchema.class {}
StateVersionSchema.setClass(StateVersion);

/** A resource that an instance holds, as its latest state lists it. Attributes are not listed: they may be secrets. */
export const InstanceResourceSchema = defineEntity({
  name: 'InstanceResource',
  tableName: 'instance_resources',
  properties: {
    /** Later states keep the ids of the resources that stay. */
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
