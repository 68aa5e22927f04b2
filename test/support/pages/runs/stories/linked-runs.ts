import { destroyAll } from '../plans.ts';
import type { Narrator } from './narrator.ts';
import type { RunStory } from './story.ts';

const minute = 60_000;
const pending = {
  status: 'pending_approval',
  reached: 'approval',
  required: 1,
  waitingOn: { code: 'approval' },
} as const;

/** Runs that another run, a change of the tool or a destroy has to do with. `linkRuns` adds what no story says. */
export function tellLinked(narrator: Narrator) {
  const tell = narrator.tell.bind(narrator);
  return {
    toolSwitch: tell('networkProduction/transit', {
      ago: 25 * minute,
      reached: 'planning',
      message: 'Switch to Terraform',
      changes: [],
    }),
    followed: tell('ledgerStaging/database', {
      ...pending,
      ago: 45 * minute,
      message: 'Outputs of network/production/main changed: private_subnet_ids',
    }),
    destroysSource: tell('networkProduction/cluster', {
      ...pending,
      ago: 15 * minute,
      operation: 'destroy',
      message: 'The new cluster has taken over',
      changes: destroyAll(narrator.places.at('networkProduction/cluster').resources),
    }),
  } satisfies Record<string, RunStory>;
}
