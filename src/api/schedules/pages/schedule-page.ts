import type { FastifyReply } from 'fastify';
import { renderVariables } from '#api/runs/pages/run/values.ts';
import { renderActions } from '#api/web/components/actions.ts';
import { renderConfirmation } from '#api/web/components/confirmation.ts';
import { type Fact, renderFacts } from '#api/web/components/facts.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderRunLink } from '#api/web/components/links/resource-links.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderEmpty, renderTable } from '#api/web/components/table.ts';
import { renderAge, renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { renderLive } from '#api/web/live/live.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import { type FiringReason, firingReasons } from '#domain/schedules/model.ts';
import { findStartRefusal } from '#domain/schedules/start-work.ts';
import { describeSchedule } from '#domain/shared/schedules/describe-schedule.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Names } from '#domain/tenancy/names.ts';
import { renderResets } from './resets.ts';
import { markOf } from './schedule-changes.ts';
import {
  type Result,
  readSubject,
  readWorkNames,
  renderOutcome,
  renderPaused,
  renderWork,
  type ScheduleSubject,
  type ScheduleVisit,
  scheduleCrumbs,
  schedulePath,
} from './schedule-view.ts';

/** Shows a schedule: its times and its work, its next times, and the results of the last ones. */
export async function showSchedule(visit: ScheduleVisit): Promise<FastifyReply> {
  const schedule = await readSubject(visit);
  const [names, resets, refusal] = await Promise.all([
    readWorkNames(visit, [schedule]),
    renderResets(visit, schedule),
    findStartRefusal(visit.em, schedule.id),
  ]);
  const { id } = schedule;
  return visit.show({
    title: schedule.name,
    main: html`<div class="page page-wide">
${renderConfirmation(visit, pages.schedule)}
${renderLive(
  {
    stream: pagePath(pages.scheduleChanges, { id }, { mark: markOf(schedule) }),
    address: schedulePath(schedule),
    again: '20s',
  },
  renderContent(schedule, { names, resets, refusal }),
)}
</div>`,
  });
}

interface Content {
  readonly names: Names;
  readonly resets: Html | null;
  /** Why it could not start its work now; null if it could. */
  readonly refusal: FiringReason | null;
}

function renderContent(schedule: ScheduleSubject, { names, resets, refusal }: Content): Html {
  const { name, id } = schedule;
  return html`${renderPageHead({
    title: name,
    crumbs: scheduleCrumbs(),
    beside: renderPaused(schedule),
    below: toSentence(describeSchedule(schedule.schedule)),
    actions: renderButtons(schedule),
    history: ['schedules', id],
  })}
${renderFailure(schedule, refusal)}${resets}
<div class="panel">${renderFacts(factsOf(schedule, names), { isWide: true })}</div>
${renderWorkVariables(schedule)}
<h2>Next times</h2>
${renderNext(schedule, refusal)}
<h2>History</h2>
${schedule.last_results.length > 0 ? html`<div class="list-panel">${renderHistory(schedule)}</div>` : renderNone()}`;
}

const startedNothing: ReadonlySet<string> = new Set(['failed', 'missed']);

/** Says at the top of the page why nothing starts any longer, or why the last time started nothing. */
function renderFailure(schedule: ScheduleSubject, refusal: FiringReason | null): Html | null {
  const { last_results: results, enabled } = schedule;
  if (refusal)
    return html`<div class="notice notice-problem" role="note">${renderIcon('octagon-x')}<p>${toSentence(firingReasons[refusal])} ${renderTakeover(schedule)}</p></div>`;
  const last = results.find(({ outcome }) => outcome !== 'pending');
  if (!enabled || !last || !startedNothing.has(last.outcome) || last.message === null) return null;
  return html`<div class="notice notice-problem" role="note">${renderIcon('octagon-x')}<p>The last start failed, ${renderAge(String(last.last_at))}: <span class="foreign">${last.message}</span></p></div>`;
}

/** Says that a visitor who saves the work gives it their own authority; null for visitors who may not. */
function renderTakeover({ id, actions }: ScheduleSubject): Html | null {
  if (!actions.some(({ name, allowed }) => name === 'update' && allowed)) return null;
  return html`<a href="${pagePath(pages.editScheduledWork, { id })}">Change work</a> makes it run as you.`;
}

function factsOf(schedule: ScheduleSubject, names: Names): Fact[] {
  const { work, authority } = schedule;
  const started = 'run' in work ? work.run : work.assembly_run;
  return [
    ['Starts', renderWork(schedule, names)],
    ['Version', started.version ?? ('run' in work && work.run.operation === 'destroy' ? 'the deployed one' : 'latest')],
    ['Instance', 'run' in work ? work.run.instance && html`<span class="foreign">${work.run.instance}</span>` : null],
    ['Variables left empty', 'run' in work ? describeLeftOut(work.run) : null],
    ['Team', html`<span class="foreign">${names.get(schedule.team_id)?.name ?? schedule.team_id}</span>`],
    ['Runs as', html`<span class="foreign">${authority.name}</span>`],
    ['Message', started.message ? html`<span class="foreign">${started.message}</span>` : null],
  ];
}

function describeLeftOut({ variables_from: from, omit }: { variables_from: string | null; omit: readonly string[] }) {
  if (from !== 'deployed') return null;
  return omit.length === 0
    ? 'kept as deployed'
    : html`kept as deployed, but for <span class="foreign">${omit.join(', ')}</span>`;
}

/** The variables of the work; null if it has none. */
function renderWorkVariables({ work }: ScheduleSubject): Html | null {
  const { variables } = 'run' in work ? work.run : work.assembly_run;
  if (Object.keys(variables).length === 0) return null;
  return html`<section class="panel stack" aria-labelledby="variables"><h2 id="variables">Variables</h2>${renderVariables(variables as Readonly<Record<string, JsonValue>>)}</section>`;
}

function renderNext({ next_times: times, enabled, schedule }: ScheduleSubject, refusal: FiringReason | null): Html {
  if (!enabled) return html`<p class="muted">None while the schedule is paused.</p>`;
  if (refusal) return html`<p class="muted">None that can start the work.</p>`;
  if (times.length === 0)
    return html`<p class="muted">None while the team, or the environment of the work, is archived.</p>`;
  return html`<ul class="plain-list">${times.map((time) => html`<li>${renderTime(String(time))}${renderClock(schedule, String(time))}</li>`)}</ul>`;
}

/** The time in the schedule's own time zone. All other times on the page are in the visitor's time zone. */
function renderClock(schedule: ScheduleSubject['schedule'], time: string): Html | null {
  if (!('cron' in schedule) || schedule.timezone === 'UTC') return null;
  const { timezone: timeZone } = schedule;
  const clock = new Intl.DateTimeFormat('en-GB', { weekday: 'short', hour: '2-digit', minute: '2-digit', timeZone });
  return html` <span class="muted">(${clock.format(new Date(time))} in ${timeZone})</span>`;
}

function renderHistory(schedule: ScheduleSubject): Html {
  return renderTable<Result>({
    caption: 'Recent results',
    rows: schedule.last_results,
    columns: [
      { label: 'Time', kind: 'main', cell: renderTimes },
      { label: 'Result', cell: renderOutcome },
      { label: 'Details', cell: (result) => renderStarted(schedule, result) },
      {
        label: 'Requested by',
        kind: 'minor',
        cell: ({ requested_by: name }) => name && html`<span class="foreign">${name}</span>`,
      },
    ],
  });
}

function renderTimes({ scheduled_at: first, last_at: last, times }: Result): Html {
  if (times === 1) return renderTime(String(first));
  return html`${times.toLocaleString('en')} times, from ${renderTime(String(first))} to ${renderTime(String(last))}`;
}

/** A link to what a time started, or the reason why it started nothing. */
function renderStarted({ work }: ScheduleSubject, { run_id, assembly_run_id: runID, message }: Result): Html | null {
  if (run_id) return renderRunLink(run_id);
  if (runID && 'assembly_run' in work) {
    const path = pagePath(pages.assemblyRun, { id: work.assembly_run.assembly_id, runID });
    return html`<a href="${path}">assembly run …${runID.slice(-6)}</a>`;
  }
  return message ? html`<span class="foreign">${toSentence(message)}</span>` : null;
}

function renderNone(): Html {
  return renderEmpty('Not started yet', 'Runs that the schedule starts appear here with their result.');
}

/** The buttons. A schedule whose work must be saved first has no button that resumes it. */
function renderButtons({ id, actions, enabled, paused_because: because }: ScheduleSubject): Html {
  const change = actions.find(({ name }) => name === 'update');
  const pausing = enabled
    ? ({ label: 'Pause', icon: 'pause', path: pagePath(pages.pauseSchedule, { id }) } as const)
    : ({ label: 'Resume', icon: 'play', path: pagePath(pages.resumeSchedule, { id }) } as const);
  const added = because ? ['work'] : ['pause', 'work'];
  const shown = change ? [...actions, ...added.map((name) => ({ ...change, name }))] : actions;
  return renderActions(shown, {
    trigger: { label: 'Start now', icon: 'play', tone: 'primary', path: pagePath(pages.triggerSchedule, { id }) },
    pause: pausing,
    update: { label: 'Edit', icon: 'pencil', path: pagePath(pages.editSchedule, { id }) },
    work: { label: 'Change work', icon: 'replace', path: pagePath(pages.editScheduledWork, { id }) },
    delete: { label: 'Delete', icon: 'trash-2', tone: 'danger', path: pagePath(pages.deleteSchedule, { id }) },
  });
}
