import type { EventSubscription } from '#domain/shared/events/event-type.ts';
import { InstanceFollowSchema } from './entity.ts';
import { mayChangeInputs } from './interest-store.ts';
import { followingKinds } from './ownership.ts';

export const entities = [InstanceFollowSchema] as const;
export const ownership = followingKinds;

export const subscriptions = [
  // Marks the instances whose inputs changed, and starts runs of those that follow.
  {
    subscriber: 'following',
    types: [
      'run.finished',
      'run.state_recovered',
      'instance.readers_changed',
      'instance.deleted',
      'instance.state_imported',
      'instance.state_forgotten',
    ],
    concerns: { 'run.finished': mayChangeInputs },
  },
] as const satisfies readonly EventSubscription[];
