import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import type { ListedResource } from '#domain/instances/resources/resource-list-store.ts';
import type { StateVersionDetails } from '#domain/instances/state/version-store.ts';
import type { InstanceDetails } from '#domain/instances/store.ts';
import { shownIdOf } from '#domain/shared/access/principal.ts';
import { WantedTool } from '#domain/tools/model.ts';
import { instanceActions, type OwnedInstance } from './actions.ts';

const fields = {
  id: AnswerId,
  name: z.string(),
  team_id: AnswerId.nullable(),
  environment_id: AnswerId.nullable(),
  template_id: AnswerId,
  tool: z.string().nullable().describe('The kind of tool that wrote its state; null: none did.'),
  tool_version: z.string().nullable().describe('The version of that tool. An older one may not change the instance.'),
  wanted_tool: WantedTool.nullable().describe('The tool that its runs use; null: that of template and environment.'),
  state_serial: z.int(),
  resource_count: z.int().describe('How many resources it holds: as many as its list of resources has.'),
  deployed_run_id: AnswerId.nullable(),
  deployed_by_assembly_id: AnswerId.nullable().describe(
    'The assembly of which that run was a node. A run of another assembly with a node for this instance takes it over. Null: the run was not part of an ' +
      'assembly, or belongs to another team, or there is none.',
  ),
  unrecorded_since: z
    .object({ run_id: AnswerId, at: Time })
    .nullable()
    .describe(
      'The first run since which not everything is recorded, because it was lost, failed or stopped while it applied, or was partial: the instance may hold ' +
        'resources that its state does not have, or differ from its last deployment. Read the log of the run, then run the instance again as a whole. The next ' +
        'complete run, complete scan that a person starts, or import of a state ends this; a scan that a schedule starts does not. Null: all is recorded.',
    ),
  locked_by_run_id: AnswerId.nullable(),
  drifted: z
    .boolean()
    .describe('Scans found that it differs from what was deployed, and the difference was not accepted.'),
  inputs_changed: z
    .boolean()
    .describe(
      'Outputs of other instances that it was deployed with are other ones by now, are gone, or may not be read any longer. `GET /instances/{id}/dependencies` says which.',
    ),
  created_at: Time,
  revision: z
    .int()
    .describe(
      'Rises with each change of the instance: of its state, its deployment, `unrecorded_since`, its tool, its readers and what it follows. `locked_by_run_id`, `drifted`, ' +
        '`inputs_changed` and `actions` change without it, because they say how other resources are.',
    ),
};

/** An instance in a list. */
export const ListedInstanceView = z.object(fields).meta({ id: 'ListedInstance' });

/** An instance in every answer about one instance. */
export const InstanceView = z.object({ ...fields, actions: instanceActions.view }).meta({ id: 'Instance' });

export function toInstance(instance: InstanceDetails): z.input<typeof ListedInstanceView> {
  return answerOf(ListedInstanceView.shape, {
    ...instance,
    unrecordedSince:
      instance.unrecordedRunId && instance.unrecordedAt
        ? { run_id: instance.unrecordedRunId, at: instance.unrecordedAt }
        : null,
    drifted: instance.isDrifted,
    inputsChanged: instance.haveInputsChanged,
  });
}

/** Shows one instance with the actions that the caller may take. */
export function showInstance(context: ActionContext, instance: OwnedInstance): z.input<typeof InstanceView> {
  return { ...toInstance(instance), actions: instanceActions.describe(context, instance) };
}

export const StateVersionView = z
  .object({
    serial: z.int(),
    run_id: AnswerId.nullable(),
    digest: z.string(),
    size: z.int(),
    resource_count: z.int(),
    created_by: z.string().nullable(),
    created_at: Time,
  })
  .meta({ id: 'StateVersion' });

export function toStateVersion(version: StateVersionDetails): z.input<typeof StateVersionView> {
  return answerOf(StateVersionView.shape, { ...version, createdBy: shownIdOf(version.createdBy) });
}

export const ResourceView = z
  .object({
    address: z.string().describe('As the tool writes it, such as `module.net.aws_subnet.a["x"]`.'),
    module: z.string().nullable(),
    type: z.string(),
    name: z.string(),
    provider: z.string().nullable().describe('Its source, such as `registry.opentofu.org/hashicorp/aws`.'),
    instance_id: AnswerId,
    instance: z.string().describe('The name of the instance that holds it.'),
    environment_id: AnswerId.nullable(),
    team_id: AnswerId.nullable(),
  })
  .meta({ id: 'Resource' });

export function toResource(resource: ListedResource): z.input<typeof ResourceView> {
  const { id: _, instanceId, environmentId, teamId, ...rest } = resource;
  return { ...rest, instance_id: instanceId, environment_id: environmentId, team_id: teamId };
}
