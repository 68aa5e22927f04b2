import type { EventData, EventTypeName } from '#domain/events.ts';
import { systemPrincipal } from '#domain/shared/access/principal.ts';
import { toPendingEvent } from '#domain/shared/events/publish.ts';
import type { RunStatus, terminalStatuses } from '#domain/shared/vocabulary/runs.ts';
import { idAt } from './ids.ts';
import type { Actor } from './places.ts';
import { digestOfPlan } from './run-row.ts';
import { isFinished, type RunStory, summaryOf, type Timeline } from './stories/story.ts';

type RunEvent = {
  [Type in Extract<EventTypeName, `run.${string}`>]: { at: number; type: Type; data: EventData<Type>; by?: Actor };
}[Extract<EventTypeName, `run.${string}`>];

const service = systemPrincipal('coordinator');

/** The events of a run, numbered in the order of their times. */
export function toEventRows(story: RunStory, time: Timeline) {
  const events = eventsOf(story, time).sort((one, other) => one.at - other.at);
  const { team } = story.place;
  return events.map(({ at, type, data, by }, index) => {
    const owners = { teamId: team.id, organizationId: team.organizationId };
    const event = toPendingEvent({ type, subjectId: story.id, owners, data }, by ?? service);
    return {
      id: idAt(at),
      subjectKind: event.subjectKind,
      subjectId: event.subjectId,
      sequence: index + 1,
      type,
      data: event.data as never,
      organizationId: event.organizationId,
      teamId: event.teamId,
      actorId: event.actorId,
      actorType: event.actorType,
      actorName: event.actorName,
      createdAt: new Date(at),
    };
  });
}

function eventsOf(story: RunStory, time: Timeline): RunEvent[] {
  const { by, operation, id, required } = story;
  const digest = digestOfPlan(id);
  const events: RunEvent[] = [{ at: time.admitted, type: 'run.admitted', data: { by: by.name, operation }, by }];
  if (time.started !== null) events.push({ at: time.started, type: 'run.planning', data: {} });
  if (time.planned !== null) {
    events.push({ at: time.planned, type: 'run.planned', data: { digest, ...summaryOf(story) } });
  }
  if (time.approvalAsked !== null)
    events.push({ at: time.approvalAsked, type: 'run.approval_required', data: { required, digest } });
  events.push(...approvalEvents(story, time), ...holdEvents(story, time));
  if (time.applying !== null) events.push({ at: time.applying, type: 'run.applying', data: { digest } });
  if (story.reason === 'apply_interrupted' && time.finished !== null)
    events.push({ at: time.finished - 1, type: 'run.attempt_lost', data: { phase: 'applying' } });
  return [...events, ...endEvents(story, time)];
}

function approvalEvents(
  { asked, by, reviews, comments, at, seconds }: RunStory,
  { approvalAsked, planned }: Timeline,
): RunEvent[] {
  const said = comments.map(
    ({ by: author, after }): RunEvent => ({
      at: at + after * 1000,
      type: 'run.commented',
      data: { by: author.name, comment_id: idAt(at) },
      by: author,
    }),
  );
  if (approvalAsked === null || planned === null) return said;
  const names = asked.map(({ name }) => name);
  const request: RunEvent[] =
    asked.length === 0
      ? []
      : [
          {
            at: approvalAsked + 30_000,
            type: 'run.approval_requested',
            data: { by: by.name, reviewers: names, message: 'Could you look at this today?' },
            by,
          },
        ];
  const given = reviews.map(
    ({ by: reviewer, decision, comment }, index): RunEvent => ({
      at: reviewTime(planned, seconds.approval, index, reviews.length),
      type: 'run.reviewed',
      data: { by: reviewer.name, decision, comment },
      by: reviewer,
    }),
  );
  return [...said, ...request, ...given];
}

/** The reviews of a run spread over the time that it waited; the last one ends the waiting. */
export function reviewTime(planned: number, seconds: number, index: number, count: number): number {
  return planned + (seconds * 1000 * (index + 1)) / count - 10;
}

function holdEvents({ waitingOn }: RunStory, { decided }: Timeline): RunEvent[] {
  if (waitingOn === null || decided === null) return [];
  const { code, blocker } = waitingOn;
  if (
    (code !== 'locked' && code !== 'frozen' && code !== 'paused') ||
    !blocker ||
    typeof blocker === 'string' ||
    'scope' in blocker
  )
    return [];
  return [{ at: decided, type: 'run.held', data: { code, reason: blocker.reason, until: blocker.until } }];
}

function endEvents(story: RunStory, { finished }: Timeline): RunEvent[] {
  const { status, reason, by } = story;
  const asked: RunEvent[] = [];
  const isAsked = status === 'canceling' || reason === 'canceled_by_user' || reason === 'forced';
  if (isAsked)
    asked.push({
      at: (finished ?? Date.now()) - 4000,
      type: 'run.cancel_requested',
      data: { by: by.name, reason: 'Superseded by a later change.', force: reason === 'forced' },
      by,
    });
  if (finished === null || !isFinished(story)) return asked;
  return [
    ...asked,
    {
      at: finished,
      type: 'run.finished',
      data: {
        status: status as (typeof terminalStatuses)[number] & RunStatus,
        reason: status === 'succeeded' ? null : reason,
      },
    },
  ];
}
