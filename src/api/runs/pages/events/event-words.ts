import type { IconName } from '#api/web/components/icon.ts';
import { lookOfRun } from '#api/web/components/status.ts';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pluralize } from '#api/web/text.ts';
import type { EventData } from '#domain/events.ts';
import { describeDetail } from '#domain/runs/diagnostics/status-detail.ts';
import type { RunEventType } from '#domain/runs/events/publish-event.ts';
import type { LapseReason } from '#domain/runs/model.ts';
import { countsInWords } from '#domain/runs/plans/counts-in-words.ts';
import { operationWords } from '../labels.ts';
import { explainReason } from '../run/reasons.ts';
import type { ShownEvent } from '../run/timeline.ts';

/** What happened, in words for the page. */
export interface EventWords {
  readonly icon: IconName;
  readonly text: Html | string;
  /** What its actor wrote about it, such as a reason. */
  readonly said?: string | null;
}

/** Describes an event in words. */
export function describeEvent({ type, data }: Pick<ShownEvent, 'type' | 'data'>): EventWords {
  // The publisher's schema has validated the data, and each type has its own.
  const describe = words[type as RunEventType] as (data: unknown) => EventWords;
  return describe(data);
}

const person = (name: string): Html => html`<strong class="foreign">${name}</strong>`;

const lapses: Readonly<Record<LapseReason, string>> = {
  disabled: 'the reviewer was disabled',
  not_permitted: 'the reviewer may not review the run any more',
  self_approval: 'the reviewer answers for the run',
};

const holds = {
  paused: 'all applies are paused',
  locked: 'its environment is locked',
  frozen: 'a freeze window is open',
};

const words: { readonly [Type in RunEventType]: (data: EventData<Type>) => EventWords } = {
  'run.admitted': ({ by, operation }) => ({
    icon: 'play',
    text: html`${person(by)} asked for the run: ${operationWords[operation].toLowerCase()}.`,
  }),
  'run.planning': ({ operation }) =>
    operation === 'scan'
      ? { icon: 'search', text: 'The scan started.' }
      : { icon: 'file-text', text: 'Planning began.' },
  'run.planned': ({ digest: _digest, operation, ...counts }) =>
    operation === 'scan'
      ? {
          icon: 'search',
          text: `The scan finished: ${counts.destroy} missing, ${counts.change} different, ${counts.add} unexpected.`,
        }
      : { icon: 'file-text', text: `The plan is ready: ${countsInWords(counts)}.` },
  'run.approval_required': ({ required }) => ({
    icon: 'hand',
    text: `The run waits for ${pluralize(required, 'approval')}.`,
  }),
  'run.approval_requested': ({ by, reviewers, message }) => ({
    icon: 'mail',
    text: html`${person(by)} asked ${reviewers.length > 0 ? pluralize(reviewers.length, 'reviewer') : 'everybody who may review it'} for a review.`,
    said: message,
  }),
  'run.reviewed': ({ by, decision, comment }) => ({
    icon: decision === 'approve' ? 'circle-check' : 'ban',
    text: html`${person(by)} ${decision === 'approve' ? 'approved' : 'rejected'} the plan.`,
    said: comment,
  }),
  'run.approval_lapsed': ({ by, reason }) => ({
    icon: 'circle-alert',
    text: html`The approval of ${person(by)} no longer counts: ${lapses[reason]}.`,
  }),
  'run.held': ({ code, reason, until }) => ({
    icon: 'pause',
    text: html`The apply is held: ${holds[code]}${until ? html` until ${renderTime(until)}` : null}.`,
    said: reason,
  }),
  'run.applying': () => ({ icon: 'rocket', text: 'Applying began.' }),
  'run.attempt_lost': ({ phase }) => ({ icon: 'triangle-alert', text: `The worker was lost while it was ${phase}.` }),
  'run.state_recovered': ({ serial }) => ({
    icon: 'history',
    text: `A state that an ended attempt had written became the latest one, version ${serial}.`,
  }),
  'run.state_refused': ({ problem }) => ({
    icon: 'octagon-x',
    text: 'A state that an attempt had written could not be stored, and was set aside.',
    said: problem,
  }),
  'run.outputs_unrepresentable': ({ values, count }) => ({
    icon: 'triangle-alert',
    text: html`The outputs hold ${pluralize(count, 'value')} that cannot be stored. The state has all of them.`,
    said: values.map(({ output, path, reason }) => `${output}${path} ${reason}`).join(', '),
  }),
  'run.not_contained': ({ pool, message }) => ({
    icon: 'triangle-alert',
    text: html`The run needs a sandbox, and no live worker of the pool ${pool} has one.`,
    said: message,
  }),
  'run.connection_refused': ({ message }) => ({
    icon: 'triangle-alert',
    text: 'The run could not be given a connection that it needs.',
    said: message,
  }),
  'run.read_refused': ({ message }) => ({
    icon: 'triangle-alert',
    text: 'The run may no longer read an output that it uses.',
    said: message,
  }),
  'run.cancel_requested': ({ by, reason, force }) => ({
    icon: 'circle-stop',
    text: html`${person(by)} ${force ? 'ended the run without waiting for its worker' : 'asked to cancel the run'}.`,
    said: reason,
  }),
  'run.gave_way': () => ({
    icon: 'circle-stop',
    text: 'The scan stopped for a run that changes the instance.',
  }),
  'run.finished': ({ status, reason, status_detail: detail }) => ({
    icon: lookOfRun({ status, status_reason: reason }).icon,
    text: html`The run ended: ${lookOfRun({ status, status_reason: reason }).word.toLowerCase()}.`,
    said: detail ? describeDetail(detail) : (explainReason(reason)?.why ?? null),
  }),
  'run.commented': ({ by }) => ({ icon: 'message-square', text: html`${person(by)} commented.` }),
  'run.undone': () => ({ icon: 'undo-2', text: html`Another run took back what the run changed.` }),
  'run.deleted': ({ by }) => ({
    icon: 'trash-2',
    text: html`${person(by)} deleted the run: its log, plan and comments are gone.`,
  }),
};
