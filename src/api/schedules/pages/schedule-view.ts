import type { z } from 'zod';
import { operationWords } from '#api/runs/pages/labels.ts';
import type { Crumb } from '#api/web/components/page-head.ts';
import { renderRunStatus, renderStatusBadge, type StatusLook } from '#api/web/components/status.ts';
import type { ConfirmationOf } from '#api/web/confirmations.ts';
import { formsAbout } from '#api/web/forms/forms-about.ts';
import { type Html, html } from '#api/web/html.ts';
import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type Names, readNames } from '#domain/tenancy/names.ts';
import { get } from '../operations.ts';
import type { ListedScheduleView, ScheduleView } from '../views.ts';

export type ListedSchedule = z.input<typeof ListedScheduleView>;
export type ScheduleSubject = z.input<typeof ScheduleView>;
export type ScheduleVisit = Visit<{ id: string }>;
export type Result = ListedSchedule['last_results'][number];

export function readSubject(visit: ScheduleVisit): Promise<ScheduleSubject> {
  return visit.read(get, { params: visit.params });
}

export function schedulePath({ id }: { readonly id: string }, done?: ConfirmationOf<typeof pages.schedule>): LocalPath {
  return pagePath(pages.schedule, { id }, { done });
}

export function scheduleCrumbs(schedule?: ScheduleSubject): Crumb[] {
  const all = { label: 'Schedules', path: pagePath(pages.schedules) };
  return schedule ? [all, { label: schedule.name, path: schedulePath(schedule) }] : [all];
}

/** Reads the names of the work, the places and the people of schedules. */
export function readWorkNames({ em }: Visit, schedules: readonly ListedSchedule[]): Promise<Names> {
  const works = schedules.map(({ work }) => work);
  return readNames(em, {
    teams: schedules.map(({ team_id: id }) => id),
    templates: works.flatMap((work) => ('run' in work ? [work.run.template_id] : [])),
    assemblies: works.flatMap((work) => ('run' in work ? [] : [work.assembly_run.assembly_id])),
    environments: works.map((work) => ('run' in work ? work.run.environment_id : work.assembly_run.environment_id)),
  });
}

/** The work and the place of a schedule, with links. */
export function renderWork({ work }: ListedSchedule, names: Names): Html {
  const [what, path, environment] =
    'run' in work
      ? [work.run, pagePath(pages.template, { id: work.run.template_id }), work.run.environment_id]
      : [
          work.assembly_run,
          pagePath(pages.assembly, { id: work.assembly_run.assembly_id }),
          work.assembly_run.environment_id,
        ];
  const id = 'run' in work ? work.run.template_id : work.assembly_run.assembly_id;
  const where = environment
    ? html` in <a class="foreign" href="${pagePath(pages.environment, { id: environment })}">${names.get(environment)?.name ?? 'an environment'}</a>`
    : null;
  return html`${operationWords[what.operation]} <a class="foreign" href="${path}">${names.get(id)?.name ?? id}</a>${where}`;
}

const outcomeLooks = {
  pending: { word: 'Starting', icon: 'circle-dashed', tone: 'queued' },
  started: { word: 'Started', icon: 'circle-check', tone: 'succeeded' },
  skipped: { word: 'Skipped', icon: 'skip-forward', tone: 'canceled' },
  failed: { word: 'Not started', icon: 'octagon-x', tone: 'failed' },
  missed: { word: 'Missed', icon: 'octagon-x', tone: 'failed' },
} as const satisfies Record<Result['outcome'], StatusLook>;

/** The status of what a time started, or the outcome if it started nothing. */
export function renderOutcome({ outcome, status, status_reason, waiting_on }: Result): Html {
  return status ? renderRunStatus({ status, status_reason, waiting_on }) : renderStatusBadge(outcomeLooks[outcome]);
}

export function renderPaused({ enabled }: ListedSchedule): Html | null {
  return enabled ? null : renderStatusBadge({ word: 'Paused', icon: 'pause', tone: 'canceled' });
}

/** Declares a form about schedules. */
export const scheduleForm = formsAbout({ read: readSubject, crumbs: scheduleCrumbs, path: schedulePath });
