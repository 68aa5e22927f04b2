import type { HoldBlocker } from '#domain/shared/vocabulary/holds.ts';
import { changeMany, changeOf, changeSome } from '../plans.ts';
import type { Narrator, Part } from './narrator.ts';
import type { RunStory } from './story.ts';

const [minute, hour] = [60_000, 60 * 60_000];

/** Runs that wait for approval, or whose apply something holds. */
export function tellWaiting(narrator: Narrator) {
  const pending = {
    status: 'pending_approval',
    reached: 'approval',
    required: 1,
    waitingOn: { code: 'approval' },
  } as const;
  const { lock, freeze, pause } = holdsOf(narrator);
  const tell = narrator.tell.bind(narrator);
  return {
    needsApproval: tell('networkProduction/main', { ...pending, ...discussed(narrator) }),
    bigPlan: tell('networkProduction/records', {
      ...pending,
      ago: 50 * minute,
      message: 'Renumber the racks',
      changes: changeMany(5000, narrator.random),
      required: 2,
      asked: [narrator.actor('reviewer'), narrator.actor('owner')],
    }),
    smallApproval: tell('trackingProduction/database', {
      ...pending,
      ago: 26 * hour,
      message: 'A second replica for reports',
    }),
    /** Its requester may not approve it. */
    ownApproval: tell('observabilityProduction/bucket', {
      ...pending,
      ago: 2 * hour,
      by: narrator.actor('reviewer'),
      message: 'Keep logs for 400 days',
    }),
    locked: tell('ledgerProduction/release', {
      ...pending,
      ago: 95 * minute,
      message: 'PAY-2291: post fees nightly',
      required: 2,
      reviews: narrator.approvals('reviewer', 'owner'),
      waitingOn: { code: 'locked', blocker: lock },
    }),
    frozen: tell('checkoutProduction/release', {
      ...pending,
      ago: 5 * hour,
      message: 'checkout 4.18.2',
      reviews: narrator.approvals('reviewer'),
      waitingOn: { code: 'frozen', blocker: freeze },
    }),
    paused: tell('lakehouseDevelopment/topics', {
      ...pending,
      ago: 30 * minute,
      status: 'running',
      required: 0,
      message: 'Four more partitions',
      waitingOn: { code: 'paused', blocker: pause },
    }),
  } satisfies Record<string, RunStory>;
}

export const lockReason =
  'Incident 4127: the ledger is being reconciled by hand. Ask in #payments before you unlock it.';
export const saleReason = 'The shop earns a third of its year in these days.';

function holdsOf(narrator: Narrator): Record<'lock' | 'freeze' | 'pause', HoldBlocker> {
  const { id, name } = narrator.actor('maintainer');
  const lock = { by: { type: 'user' as const, id, name }, name: null, reason: lockReason, until: null };
  const until = new Date(narrator.now + 42 * hour).toISOString();
  return {
    lock,
    freeze: { by: null, name: 'Autumn sale', reason: saleReason, until },
    pause: { ...lock, reason: 'The cloud provider has an incident in this region.' },
  };
}

/** It waits for the second of two approvals; it replaces and destroys, and people talk about it. */
function discussed(narrator: Narrator): Part {
  const { resources } = narrator.places.at('networkProduction/main');
  const [reviewer, operator, requester] = [
    narrator.actor('reviewer'),
    narrator.actor('operator'),
    narrator.actor('requester'),
  ];
  return {
    ago: 3 * hour,
    by: requester,
    message:
      'Move the NAT gateways to one for each zone.\n\nChange request: CHG-20418. The old addresses stay allowed for a week.',
    changes: [
      ...changeSome(resources.slice(9), narrator.random, 'apply'),
      ...resources.slice(4, 7).map((resource) => changeOf(resource, 'replace', narrator.random)),
      ...resources.slice(7, 9).map((resource) => changeOf(resource, 'delete')),
      ...resources.slice(0, 2).map((resource) => changeOf(resource, 'update', narrator.random)),
    ],
    required: 2,
    reviews: [{ by: operator, decision: 'approve', comment: 'The replacement is planned, see the change request.' }],
    asked: [reviewer],
    comments: [
      { by: reviewer, text: 'Is there a window in which payments cannot reach the bank?', after: 1200 },
      {
        by: requester,
        text: 'About 20 seconds for each zone, one after the other.\nThe payments team knows.',
        after: 2400,
      },
    ],
    seconds: { plan: 48, approval: 1800 },
  };
}
