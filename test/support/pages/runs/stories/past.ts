import { needsApproval } from '#domain/runs/model.ts';
import type { StatusReason } from '#domain/shared/vocabulary/run-reasons.ts';
import type { RunOperation, RunStatus } from '#domain/shared/vocabulary/runs.ts';
import { Random } from '../../random.ts';
import { endsWhileApplying } from '../attempt-rows.ts';
import { idAt } from '../ids.ts';
import type { Place, Places } from '../places.ts';
import { changeSome, createAll } from '../plans.ts';
import type { RunStory, StoryReview } from './story.ts';

const day = 24 * 60 * 60_000;

const messages = [
  'Raise the number of replicas before the sale',
  'Rotate the certificates',
  'Follow the new address plan',
  'Upgrade to the version of this month',
  'Roll back: error rate doubled after the last release',
  'Add the new depot',
  'Tidy up what nobody uses any more',
  'PAY-2291: let the fraud check reach the ledger',
  'Nightly run',
  '',
  '',
];
const approvals = [
  'Looks good.',
  'Checked the plan against the change request.',
  'Fine, but please do it before noon.',
  'Compared with staging: same changes.',
  '',
];
const rejections = [
  'This replaces the primary database. Split it into two steps, please.',
  'The address range overlaps with the transit network.',
  'Not during the sale.',
];

type Ending = readonly [status: RunStatus, reason: StatusReason | null];
const succeeded: Ending = ['succeeded', null];
/** Each with the share of the runs that end so, or in a way above it. */
const endings: readonly (readonly [share: number, ending: Ending])[] = [
  [0.79, succeeded],
  [0.84, ['failed', 'apply_failed']],
  [0.88, ['failed', 'plan_failed']],
  [0.895, ['failed', 'init_failed']],
  [0.905, ['failed', 'apply_interrupted']],
  [0.915, ['failed', 'plan_moved']],
  [0.925, ['failed', 'tool_unavailable']],
  [0.955, ['canceled', 'canceled_by_user']],
  [0.975, ['canceled', 'rejected']],
  [0.985, ['timed_out', 'approval_timeout']],
  [0.993, ['timed_out', 'apply_timeout']],
  [1, ['canceled', 'forced']],
];

/** The runs of the last months that have ended, oldest first. The first of each instance creates it. */
export function tellPast(places: Places, count: number): RunStory[] {
  const random = new Random(4127);
  const firsts = places.all.map((place) => tell(place, random, place.createdAt + 60_000, true));
  const rest = Array.from({ length: count - firsts.length }, () => {
    const place = random.pick(places.all);
    // More of them are recent, as where a company grows.
    const age = 0.1 * day + random.fraction() ** 2 * (Date.now() - place.createdAt - day);
    return tell(place, random, Date.now() - age, false);
  });
  return [...firsts, ...rest].sort((one, other) => one.at - other.at);
}

function tell(place: Place, random: Random, at: number, isFirst: boolean): RunStory {
  const drawn = isFirst ? succeeded : draw(random);
  const operation: RunOperation = isFirst
    ? 'apply'
    : random.pick(['apply', 'apply', 'apply', 'apply', 'apply', 'apply', 'apply', 'plan', 'refresh']);
  const isUnchanged = !isFirst && drawn === succeeded && random.isLikely(0.15);
  const changes = isUnchanged
    ? []
    : isFirst
      ? createAll(place.resources)
      : changeSome(place.resources, random, operation);
  const destroys = changes.some(({ action }) => action === 'delete' || action === 'replace');
  const policy = place.environment.approval as Parameters<typeof needsApproval>[0];
  const isGoverned = operation !== 'plan' && needsApproval(policy, { changes: changes.length > 0, destroys });
  const required = isGoverned ? policy.required : 0;
  // Only a run that waits for reviewers is rejected by them, or waits too long.
  const isOfReview = drawn[1] === 'rejected' || drawn[1] === 'approval_timeout';
  const [status, reason]: Ending = isOfReview && required === 0 ? ['canceled', 'canceled_by_user'] : drawn;
  const reached = reachedBy({ status, reason, operation, isUnchanged });
  return {
    id: idAt(at),
    place,
    operation,
    by: random.pick(place.requesters),
    at,
    message: random.pick(messages),
    status,
    reached,
    reason,
    waitingOn: null,
    changes,
    required,
    reviews: reviewsOf(place, random, { required, reached, reason }),
    comments: [],
    asked: [],
    seconds: {
      queue: random.between(1, 6),
      plan: random.between(6, 55),
      approval: random.between(120, 9000),
      apply: random.between(9, 1100),
    },
    requeuedFrom: null,
    log: null,
  };
}

function draw(random: Random): Ending {
  const drawn = random.fraction();
  return endings.find(([share]) => drawn < share)?.[1] ?? succeeded;
}

function reachedBy({
  status,
  reason,
  operation,
  isUnchanged,
}: {
  status: RunStatus;
  reason: StatusReason | null;
  operation: RunOperation;
  isUnchanged: boolean;
}): RunStory['reached'] {
  if (reason === 'rejected' || reason === 'approval_timeout' || reason === 'plan_moved') return 'approval';
  if (reason === 'tool_unavailable') return 'queued';
  if (operation === 'plan' || isUnchanged) return 'planning';
  return status === 'succeeded' || endsWhileApplying(reason) || reason === 'forced' ? 'applying' : 'planning';
}

function reviewsOf(
  place: Place,
  random: Random,
  { required, reached, reason }: { required: number; reached: RunStory['reached']; reason: StatusReason | null },
): StoryReview[] {
  if (required === 0) return [];
  const [first, second] = place.reviewers;
  if (reason === 'rejected' && first) return [{ by: first, decision: 'reject', comment: random.pick(rejections) }];
  if (reached !== 'applying') return [];
  return [first, second]
    .slice(0, required)
    .flatMap((by) => (by ? [{ by, decision: 'approve' as const, comment: random.pick(approvals) }] : []));
}
