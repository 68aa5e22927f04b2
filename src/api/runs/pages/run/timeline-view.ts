import { type IconName, renderIcon } from '#api/web/components/icon.ts';
import { formatSpan, renderSince } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import type { LogPhase, RunOperation } from '#domain/shared/vocabulary/runs.ts';
import { type RunTabKey, runTabPath, type ShownRun } from '../run-tab.ts';
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

/** How many lines a page of the log has. */
const linesPerPage = 1000;

interface StepLook {
  readonly label: string;
  readonly icon: IconName;
  /** The tab that shows what happened in this step. */
  readonly tab: RunTabKey;
  /** The phase whose log this step writes, if any. */
  readonly phase?: LogPhase;
}

const looks: Readonly<Record<StepKey, StepLook>> = {
  queued: { label: 'Queued', icon: 'circle-dashed', tab: 'events' },
  planning: { label: 'Plan', icon: 'file-text', tab: 'log', phase: 'plan' },
  detecting: { label: 'Detect', icon: 'search', tab: 'log', phase: 'detect' },
  approval: { label: 'Approval', icon: 'hand', tab: 'plan' },
  held: { label: 'Held', icon: 'pause', tab: 'events' },
  applying: { label: 'Apply', icon: 'rocket', tab: 'log', phase: 'apply' },
  canceling: { label: 'Cancel', icon: 'circle-stop', tab: 'events' },
};

/** The name, for each operation, of the step that makes the changes. */
const applyingWords: Readonly<Record<RunOperation, string>> = {
  apply: 'Apply',
  destroy: 'Destroy',
  plan: 'Apply',
  refresh: 'Refresh',
  scan: 'Apply',
};

/** The line at which the log of each phase begins. */
export type LogPlaces = Readonly<Partial<Record<LogPhase, number>>>;

interface Told {
  readonly events: readonly ShownEvent[];
  readonly places: LogPlaces;
}

/** The steps of a run: a bar in proportion to their durations, and each step with its duration and a link to its tab. */
export function renderTimeline(run: ShownRun, { events, places }: Told, now = Date.now()): Html {
  const steps = toSteps(run, events);
  const parts = layOutBar(steps, now);
  return html`<section class="steps" aria-label="Steps">
<svg class="steps-bar" viewBox="0 0 ${barWidth} 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">${parts.map(
    (part, index) => renderPart(part, index === parts.length - 1 && isBadEnd(run.status)),
  )}</svg>
<ol class="steps-list">${steps.map((step, index) => renderStep({ run, places, isLast: index === steps.length - 1 }, step))}</ol>
</section>`;
}

function renderPart({ key, x, width, isFolded }: BarPart, isBad: boolean): Html {
  const kind = isBad ? 'bad' : key;
  return html`<rect class="bar bar-${kind}${isFolded ? ' bar-folded' : ''}" x="${x.toFixed(1)}" y="0" width="${Math.max(1, width - 3).toFixed(1)}" height="10"></rect>`;
}

interface StepPlace {
  readonly run: ShownRun;
  readonly places: LogPlaces;
  readonly isLast: boolean;
}

function renderStep({ run, places, isLast }: StepPlace, { key, from, to, lost }: TimelineStep): Html {
  const { icon, tab, phase } = looks[key];
  const label = key === 'applying' ? applyingWords[run.operation] : looks[key].label;
  const state = from === null ? 'to-come' : to === null ? 'current' : isLast && isBadEnd(run.status) ? 'bad' : 'done';
  const name = from === null ? label : html`<a href="${placeOf(run, tab, phase && places[phase])}">${label}</a>`;
  return html`<li class="step step-${state}" ${state === 'current' ? html`aria-current="step"` : null}>${renderIcon(
    state === 'bad' ? 'octagon-x' : icon,
  )}<span class="step-name">${name}</span><span class="step-time">${describeTime(from, to)}${
    lost > 0 ? ` · ${pluralize(lost, 'worker')} lost${to === null ? `, attempt ${lost + 1}` : ''}` : null
  }</span></li>`;
}

/** The address of a step. A line of the log has one on the page of the log that contains it, for readers without scripts. */
function placeOf({ id }: ShownRun, tab: RunTabKey, line: number | undefined): string {
  if (line === undefined) return runTabPath(id, tab);
  const from = Math.floor((line - 1) / linesPerPage) * linesPerPage + 1;
  return `${pagePath(pages.run, { id }, { tab, from: String(from) })}#L${line}`;
}

function describeTime(from: number | null, to: number | null): Html | string {
  if (from === null) return 'not started';
  if (to === null) return renderSince(new Date(from).toISOString());
  return formatSpan(to - from);
}
