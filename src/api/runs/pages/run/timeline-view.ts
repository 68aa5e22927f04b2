import { type IconName, renderIcon } from '#api/web/components/icon.ts';
import { formatSpan, renderAge } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import type { RunOperation } from '#domain/runs/model.ts';
import { type RunTabKey, runTabPath, type ShownRun } from '../run-tab.ts';
import { count } from '../words.ts';
import {
  type BarPart,
  barWidth,
  isBadEnd,
  layOutBar,
  type ShownEvent,
  type StepKey,
  type TimelineStep,
  toSteps,
} from './timeline.ts';

interface StepLook {
  readonly label: string;
  readonly icon: IconName;
  /** Where the reader finds what happened in it. */
  readonly tab: RunTabKey;
  /** The part of the log, if it has one. */
  readonly place?: string;
}

const looks: Readonly<Record<StepKey, StepLook>> = {
  queued: { label: 'Queued', icon: 'circle-dashed', tab: 'events' },
  planning: { label: 'Plan', icon: 'file-text', tab: 'log', place: '#phase-plan' },
  approval: { label: 'Approval', icon: 'hand', tab: 'plan' },
  held: { label: 'Held', icon: 'pause', tab: 'events' },
  applying: { label: 'Apply', icon: 'rocket', tab: 'log', place: '#phase-apply' },
  canceling: { label: 'Cancel', icon: 'circle-stop', tab: 'events' },
};

/** What a run does in the step that changes something. */
const applyingWords: Readonly<Record<RunOperation, string>> = {
  apply: 'Apply',
  destroy: 'Destroy',
  plan: 'Apply',
  refresh: 'Refresh',
};

/** The steps of a run: a bar in proportion to their time, and each step with its time and a link to its place. */
export function renderTimeline(run: ShownRun, events: readonly ShownEvent[], now = Date.now()): Html {
  const steps = toSteps(run, events);
  const parts = layOutBar(steps, now);
  return html`<section class="steps" aria-label="Steps">
<svg class="steps-bar" viewBox="0 0 ${barWidth} 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">${parts.map(
    (part, index) => renderPart(part, index === parts.length - 1 && isBadEnd(run.status)),
  )}</svg>
<ol class="steps-list">${steps.map((step, index) => renderStep(run, step, index === steps.length - 1))}</ol>
</section>`;
}

function renderPart({ key, x, width, isFolded }: BarPart, isBad: boolean): Html {
  const kind = isBad ? 'bad' : key;
  return html`<rect class="bar bar-${kind}${isFolded ? ' bar-folded' : ''}" x="${x.toFixed(1)}" y="0" width="${Math.max(1, width - 3).toFixed(1)}" height="10"></rect>`;
}

function renderStep(run: ShownRun, { key, from, to, lost }: TimelineStep, isLast: boolean): Html {
  const { icon, tab, place } = looks[key];
  const label = key === 'applying' ? applyingWords[run.operation] : looks[key].label;
  const state = from === null ? 'to-come' : to === null ? 'current' : isLast && isBadEnd(run.status) ? 'bad' : 'done';
  const name = from === null ? label : html`<a href="${runTabPath(run.id, tab)}${place ?? ''}">${label}</a>`;
  return html`<li class="step step-${state}" ${state === 'current' ? html`aria-current="step"` : null}>${renderIcon(
    state === 'bad' ? 'octagon-x' : icon,
  )}<span class="step-name">${name}</span><span class="step-time">${describeTime(from, to)}${
    lost > 0 ? ` · ${count(lost, 'worker')} lost${to === null ? `, attempt ${lost + 1}` : ''}` : null
  }</span></li>`;
}

function describeTime(from: number | null, to: number | null): Html | string {
  if (from === null) return 'to come';
  if (to === null) return html`since ${renderAge(new Date(from).toISOString())}`;
  return formatSpan(to - from);
}
