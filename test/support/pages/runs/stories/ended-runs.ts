import { colourfulLines } from '../colourful-lines.ts';
import { destroyAll } from '../plans.ts';
import type { Narrator } from './narrator.ts';
import type { RunStory } from './story.ts';

const [minute, hour] = [60_000, 60 * 60_000];

/** Runs that ended today in each of the ways in which runs end. */
export function tellEnded(narrator: Narrator) {
  return { ...tellFailed(narrator), ...tellStopped(narrator), ...tellSucceeded(narrator) };
}

function tellFailed(narrator: Narrator) {
  const tell = narrator.tell.bind(narrator);
  return {
    failed: tell('shopProduction/cdn', {
      ago: 40 * minute,
      status: 'failed',
      reason: 'apply_failed',
      message: 'Block requests without a session',
      required: 1,
      reviews: narrator.approvals('reviewer'),
      seconds: { apply: 95, approval: 300 },
    }),
    planFailed: tell('networkDevelopment/jonas-test', {
      ago: 70 * minute,
      status: 'failed',
      reached: 'planning',
      reason: 'plan_failed',
      message: 'Try IPv6',
      by: narrator.actor('requester'),
      changes: [],
    }),
    interrupted: tell('checkoutDevelopment/release', {
      ago: 7 * hour,
      status: 'failed',
      reason: 'apply_interrupted',
      message: 'checkout 4.19.0-rc.2',
    }),
    /** Its log has colours, progress that returns to the start of its line, and an error in the middle. */
    colours: tell('networkStaging/cluster', {
      ago: 100 * minute,
      status: 'failed',
      reason: 'apply_failed',
      message: 'Upgrade to Kubernetes 1.34',
      log: colourfulLines(),
    }),
  } satisfies Record<string, RunStory>;
}

function tellStopped(narrator: Narrator) {
  const tell = narrator.tell.bind(narrator);
  const comment = 'This replaces the primary. Split it into two steps, please.';
  return {
    rejected: tell('checkoutProduction/database', {
      ago: 28 * hour,
      status: 'canceled',
      reached: 'approval',
      reason: 'rejected',
      message: 'A smaller database',
      required: 1,
      reviews: [{ by: narrator.actor('reviewer'), decision: 'reject', comment }],
    }),
    timedOut: tell('ledgerProduction/database', {
      ago: 8 * 24 * hour,
      status: 'timed_out',
      reached: 'approval',
      reason: 'approval_timeout',
      message: 'PostgreSQL 18',
      required: 2,
      seconds: { approval: 7 * 24 * 3600 },
    }),
  } satisfies Record<string, RunStory>;
}

function tellSucceeded(narrator: Narrator) {
  const tell = narrator.tell.bind(narrator);
  return {
    destroyed: tell('networkDevelopment/sandbox', {
      ago: 11 * hour,
      operation: 'destroy',
      message: 'Nobody uses it any more',
      changes: destroyAll(narrator.places.at('networkDevelopment/sandbox').resources),
    }),
    unchanged: tell('shopDevelopment/flags', {
      ago: 90 * minute,
      reached: 'planning',
      message: 'Nightly run',
      changes: [],
    }),
    /** `writeLongLog` gives it a log of any length. */
    longLog: tell('lakehouseProduction/topics', {
      ago: 13 * hour,
      message: 'Copy the positions of a year',
      required: 1,
      reviews: narrator.approvals('fjordReviewer'),
      seconds: { apply: 3100 },
    }),
  } satisfies Record<string, RunStory>;
}
