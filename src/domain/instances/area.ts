import { sql } from 'kysely';
import type { DeclaredAction } from '#domain/shared/commands/declared-action.ts';
import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { instanceCandidates } from './candidates-store.ts';
import { InstanceResourceSchema, InstanceSchema, InstanceSlotSchema, StateVersionSchema } from './entity.ts';
import { instanceEvents } from './events.ts';
import { instanceKinds } from './ownership.ts';
import { outputsContext, stateContext } from './seals.ts';

export const entities = [InstanceSchema, InstanceSlotSchema, StateVersionSchema, InstanceResourceSchema] as const;
export const ownership = instanceKinds;
export const events = instanceEvents;

export const systemActions = {
  'instance.expired': {
    summary: "Destroy what was deployed longer ago than its environment's time to live",
    resourceType: 'instances',
    actor: 'time to live',
  },
  'instance.state_recovered': {
    summary: 'Make a state that an ended attempt had written the latest state of its instance',
    resourceType: 'instances',
    actor: 'state recovery',
  },
  'instance.state_refused': {
    summary: 'Set aside a state that an attempt had written and that could not be stored',
    resourceType: 'instances',
    actor: 'state recovery',
  },
} as const satisfies Record<string, DeclaredAction>;

export const sealed = [
  sealedColumn({
    table: 'instances',
    column: 'sealedOutputs',
    key: ['id'],
    context: ({ id }) => outputsContext(id),
    isLarge: true,
  }),
  sealedColumn({
    table: 'state_versions',
    column: 'content',
    key: ['instanceId', 'serial'],
    from: ['digest'],
    context: ({ instanceId: id, digest }) => stateContext(id, digest),
    isLarge: true,
  }),
];

export const errorCodes = {
  state_too_large: 'The state has more resources or larger outputs than the service lists.',
  state_unusable: 'The service cannot read the state.',
  template_gone: 'The template of the instance was deleted.',
  state_exists: 'The instance has a state already.',
  state_not_forgettable: 'A run may have changed the instance since its state was imported.',
  instance_not_locked: 'No run holds the instance.',
  instance_busy: 'A run holds the instance.',
  instance_without_environment: 'Only an instance in an environment can be read by others, or follow what it reads.',
} as const;
export const searched = { instance: instanceCandidates };
export const named = {
  instances: {
    environment: sql<
      string | null
    >`(select environments.name from environments where environments.id = instances.environment_id)`,
    project: sql<
      string | null
    >`(select p.name from environments e join projects p on p.id = e.project_id where e.id = instances.environment_id)`,
  },
};
