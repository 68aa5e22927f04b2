import type { Narrator } from './narrator.ts';
import type { RunStory } from './story.ts';

const minute = 60_000;

/** Runs that are executed now, or wait in a queue. */
export function tellOpen(narrator: Narrator) {
  const tell = narrator.tell.bind(narrator);
  const queued = { status: 'queued', reached: 'queued' } as const;
  const applying = tell('observabilityProduction/cluster', {
    ago: 6 * minute,
    status: 'running',
    reached: 'applying',
    message: 'Upgrade to Kubernetes 1.34',
    required: 1,
    seconds: { plan: 41, approval: 150 },
    reviews: narrator.approvals('reviewer'),
  });
  return {
    applying,
    planning: tell('shopStaging/cdn', {
      ago: 20_000,
      status: 'running',
      reached: 'planning',
      message: 'Try the new cache policy',
      changes: [],
    }),
    instanceBusy: tell('observabilityProduction/cluster', {
      ...queued,
      ago: 4 * minute,
      message: 'One more pool for batch work',
      waitingOn: { code: 'instance_busy', blocker: applying.id, position: 1 },
    }),
    noWorker: tell('depotStaging/gateway', {
      ...queued,
      ago: 12 * minute,
      message: 'Firmware 2026.11.3',
      waitingOn: { code: 'no_worker' },
    }),
    quota: tell('lakehouseProduction/cluster', {
      ...queued,
      ago: 9 * minute,
      message: 'Spot machines for the nightly jobs',
      waitingOn: {
        code: 'quota',
        position: 2,
        blocker: { scope: 'installation', id: 'global', kind: 'concurrent_runs', limit: 200, used: 200 },
      },
    }),
    poolShare: tell('networkDevelopment/sandbox', {
      ...queued,
      ago: 7 * minute,
      message: 'Bring the sandbox back',
      waitingOn: { code: 'pool_share', share: 'team' },
    }),
    queued: tell('shopProduction/flags', {
      ...queued,
      ago: 2000,
      message: 'gift_cards: 50 %',
      waitingOn: { code: 'engine' },
    }),
    canceling: tell('trackingProduction/cluster', {
      ago: 8 * minute,
      status: 'canceling',
      reached: 'applying',
      reason: 'canceled_by_user',
      message: 'Wrong size',
      seconds: { plan: 30 },
    }),
  } satisfies Record<string, RunStory>;
}
