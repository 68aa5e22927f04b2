import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { countDeviations, describePerpetual } from '#domain/drift/findings/perpetual-words.ts';
import type { EventTypeName } from '#domain/events.ts';
import { findFollowAudience } from '#domain/following/audience-store.ts';
import { findFollow } from '#domain/following/follows-store.ts';
import { describeReason } from '#domain/following/model.ts';
import { findAdministrators } from '#domain/identity/users/store.ts';
import { instanceEvents } from '#domain/instances/events.ts';
import {
  factsOfAssemblyRun,
  findAssemblyRun,
  findNodeRejections,
  placeOfAssemblyRun,
} from '#domain/news/assembly-run-facts.ts';
import { inPlace } from '#domain/news/place-words.ts';
import { findPlanFacts } from '#domain/news/plan-facts.ts';
import {
  factsOfRun,
  findRejection,
  findRun,
  nameRun,
  placeOfRun,
  quoteMessage,
  type RunFacts,
} from '#domain/news/run-facts.ts';
import { quotaEvents } from '#domain/quotas/events.ts';
import { findQuotaOwner } from '#domain/quotas/owner-store.ts';
import { findUsersToAsk } from '#domain/runs/approval/reviewers.ts';
import { describeDetail, type StatusDetail } from '#domain/runs/diagnostics/status-detail.ts';
import type { PublishedEvent } from '#domain/shared/events/event-type.ts';
import { cutText } from '#domain/shared/values/text.ts';
import { describeUse, scopeNames } from '#domain/shared/vocabulary/quotas.ts';
import type { SystemAction } from '#domain/system-actions.ts';
import { disabledReasons } from '#domain/webhooks/model.ts';
import { findManagers, findTeamMembers } from './candidates-store.ts';
import type { Draft } from './drafts.ts';

/** Without a cause of its own, the event is the cause. */
type DraftNotification = (Omit<Draft, 'cause' | 'at'> & { readonly cause?: string }) | undefined;

/** A rule that makes the notification of an event, with its recipients; undefined: none. */
type Rule = (em: Em, event: PublishedEvent) => Promise<DraftNotification>;

const maxDetailInTitle = 160;

/** The words for the end of a run or a scan. */
const ends: Readonly<Record<string, string>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  timed_out: 'timed out',
  canceled: 'was canceled',
};

/** The types of events that cause notifications. */
const rules = {
  'run.approval_required': notifyOfApproval,
  'run.approval_requested': notifyReviewers,
  'run.finished': notifyRequester,
  'assembly_run.finished': notifyOfAssemblyRun,
  'drift_monitor.scanned': notifyOfScan,
  'webhook.disabled': notifyOfWebhook,
  'quota.exceeded': notifyOfQuota,
  'instance.follow_failed': notifyOfFollowing,
} as const satisfies Partial<Record<EventTypeName | SystemAction, Rule>>;

export const eventRules: ReadonlyMap<string, Rule> = new Map(Object.entries(rules));

/** Notifies only channels that a run waits for approval. Users are notified when somebody asks them. */
async function notifyOfApproval(em: Em, { subject }: PublishedEvent): Promise<DraftNotification> {
  const run = await findRun(em, subject.id);
  if (!run) return undefined;
  return {
    kind: 'run.approval_required',
    subject: { kind: 'run', id: subject.id },
    title: `The ${nameRun(run)} needs approval${quoteMessage(run)}`,
    facts: [...factsOfRun(run), ...(await findPlanFacts(em, subject.id))],
    candidates: [],
  };
}

/**
 * A request that names nobody goes to everybody who may review the run. Every reader of a run may ask any number of times. So each reviewer
 * is notified once a day for each user who asks. All service accounts together count as one, because a person can create many of them.
 */
async function notifyReviewers(em: Em, { subject, data, actor, at }: PublishedEvent): Promise<DraftNotification> {
  const run = await findRun(em, subject.id);
  const { reviewers, message } = data;
  if (!run || !Array.isArray(reviewers)) return undefined;
  return {
    kind: 'run.approval_requested',
    cause: `run.approval_requested ${subject.id} ${actor.type === 'user' ? actor.id : actor.type} ${at.slice(0, 10)}`,
    subject: { kind: 'run', id: subject.id },
    title: `${actor.name} asks you to review the ${nameRun(run)}${quoteMessage(run)}`,
    facts: [
      ...factsOfRun(run),
      ...(await findPlanFacts(em, subject.id)),
      ...(message ? [`${actor.name} asks: ${message}`] : []),
    ],
    candidates:
      reviewers.length === 0
        ? await findUsersToAsk(em, subject.id, actor.id)
        : reviewers.filter((id) => typeof id === 'string'),
  };
}

/**
 * Notifies the requester of a run, or the person who answers for a service account, how the run ended. If a run that a change of outputs
 * started fails, the people who can do something about it are notified. Scans and runs of nodes cause no notification here: the assembly
 * run notifies about all its nodes once.
 */
async function notifyRequester(em: Em, { subject, data }: PublishedEvent): Promise<DraftNotification> {
  const run = await findRun(em, subject.id);
  if (!run || run.operation === 'scan' || run.assemblyRunId !== null) return undefined;
  const hasFailed = data['status'] === 'failed' || data['status'] === 'timed_out';
  const rejection = data['reason'] === 'rejected' ? await findRejection(em, subject.id) : undefined;
  const others = hasFailed && run.startedByRunId !== null ? await findFollowAudience(em, run.instanceId) : [];
  return {
    kind: 'run.finished',
    subject: { kind: 'run', id: subject.id },
    title: rejection
      ? `${rejection.by} rejected the plan of the ${nameRun(run)}${quoteMessage(run)}`
      : `The ${nameRun(run)} ${endOf(data)}${run.statusDetail ? `: ${shortDetail(run.statusDetail)}` : quoteMessage(run)}`,
    facts: [
      ...(rejection?.comment ? [`${rejection.by} says: ${rejection.comment}`] : []),
      ...factsOfRun(run),
      ...(run.operation === 'plan' ? await findPlanFacts(em, subject.id) : []),
    ],
    candidates: [...requesterOf(run), ...others],
  };
}

async function notifyOfAssemblyRun(em: Em, { subject, data }: PublishedEvent): Promise<DraftNotification> {
  const run = await findAssemblyRun(em, subject.id);
  if (!run) return undefined;
  const rejections = data['reason'] === 'nodes_rejected' ? await findNodeRejections(em, subject.id) : [];
  const [first] = rejections;
  const place = placeOfAssemblyRun(run);
  return {
    kind: 'run.finished',
    subject: { kind: 'assembly_run', id: subject.id },
    title: first
      ? `${first.by} rejected the plan of ${first.instance} in the run of the assembly ${place}`
      : `The run of the assembly ${place} ${endOf(data)}${run.statusDetail ? `: ${shortDetail(run.statusDetail)}` : ''}`,
    facts: [
      ...rejections.map(({ by, comment, instance }) =>
        comment
          ? `${by} rejected the plan of ${instance} and says: ${comment}`
          : `${by} rejected the plan of ${instance}.`,
      ),
      ...factsOfAssemblyRun(run),
    ],
    candidates: requesterOf(run),
  };
}

/** The user who requested something, or who is responsible for the service account that did. */
function requesterOf({
  requestedByType,
  requestedById,
  responsibleUserId,
}: Pick<RunFacts, 'requestedByType' | 'requestedById' | 'responsibleUserId'>): string[] {
  const requester = requestedByType === 'user' ? requestedById : responsibleUserId;
  return requester === null ? [] : [requester];
}

async function notifyOfFollowing(em: Em, { subject, data }: PublishedEvent): Promise<DraftNotification> {
  const found = await findFollow(em, subject.id);
  if (!found) return undefined;
  const { reason } = instanceEvents['instance.follow_failed'].data.parse(data);
  const { name, failure } = found;
  const message = failure?.reason === reason ? failure.message : describeReason(reason);
  return {
    kind: 'instance.follow_failed',
    subject: { kind: 'instance', id: subject.id },
    title: `${inPlace(name, found)} could not follow outputs that it was deployed with`,
    facts: message === null ? [] : [`Why: ${message}.`],
    candidates: await findFollowAudience(em, subject.id),
  };
}

async function notifyOfScan(em: Em, { subject, teamId, data }: PublishedEvent): Promise<DraftNotification> {
  const hasFailed = data['status'] === 'failed' || data['status'] === 'timed_out';
  const opened = Number(data['opened']);
  if (!hasFailed && !(opened > 0)) return undefined;
  const run = await findRun(em, String(data['run_id']));
  if (!run) return undefined;
  const about = {
    subject: { kind: 'drift_monitor', id: subject.id },
    candidates: await findTeamMembers(em, teamId),
  } as const;
  if (hasFailed)
    return {
      ...about,
      kind: 'drift_monitor.scan_failed',
      title: `The scan of ${placeOfRun(run)} ${endOf(data)}`,
      ...(run.statusDetail && { facts: [`What failed: ${describeDetail(run.statusDetail)}`] }),
    };
  const perpetual = Number(data['opened_perpetual'] ?? 0);
  const title = `A scan of ${placeOfRun(run)} found ${countDeviations(opened, perpetual)}`;
  const advice = describePerpetual(perpetual, opened);
  return { ...about, kind: 'drift_monitor.drifted', title, ...(advice && { facts: [advice] }) };
}

async function notifyOfWebhook(
  em: Em,
  { subject, organizationId, teamId }: PublishedEvent,
): Promise<DraftNotification> {
  const webhook = await db(em)
    .selectFrom('webhooks')
    .where('id', '=', subject.id)
    .select(['name', 'disabledReason as reason'])
    .executeTakeFirst();
  if (!webhook) return undefined;
  const { name, reason } = webhook;
  // Unreachable endpoints also concern the administrators of the service.
  const concernsAdministrators = reason !== null && reason !== 'transferred';
  return {
    kind: 'webhook.disabled',
    subject: { kind: 'webhook', id: subject.id },
    title: `The service disabled the webhook ${name}`,
    facts: reason === null ? [] : [disabledReasons[reason]],
    candidates: [
      ...(await findManagers(em, { organizationId, teamId })),
      ...(concernsAdministrators ? await findAdministrators(em) : []),
    ],
  };
}

async function notifyOfQuota(em: Em, { subject, data }: PublishedEvent): Promise<DraftNotification> {
  const state = quotaEvents['quota.exceeded'].data.parse(data);
  const owner = await findQuotaOwner(em, subject.id);
  if (!owner && state.scope !== 'installation') return undefined;
  const user = owner ? `${scopeNames[owner.scope]} ${owner.name}` : 'The installation';
  const effect =
    state.kind === 'concurrent_runs'
      ? 'Further runs wait until one of these finishes'
      : 'Anything beyond this is refused';
  return {
    kind: 'quota.exceeded',
    subject: { kind: 'quota', id: subject.id },
    title: `${user} has used ${describeUse(state)}`,
    facts: [`${effect}. Administrators of the installation can raise the limit.`],
    candidates: await findAdministrators(em),
  };
}

/** The failure, shortened for a title. */
function shortDetail(detail: StatusDetail): string {
  return cutText(describeDetail(detail), maxDetailInTitle);
}

function endOf(data: PublishedEvent['data']): string {
  const status = String(data['status']);
  return ends[status] ?? `ended: ${status}`;
}
