import { readTeamsForNewInScope } from '#api/tenancy/pages/teams-for-new.ts';
import type { ConfirmationOf } from '#api/web/confirmations.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { revisionField } from '#api/web/forms/resource-forms.ts';
import { readTimes, timeFields } from '#api/web/forms/schedule-times.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages, withQuery } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { create, remove, trigger, update } from '../operations.ts';
import { placingVariables, readWork, type WorkKind, workFields } from './fields.ts';
import { type ScheduleSubject, scheduleCrumbs, scheduleForm, schedulePath } from './schedule-view.ts';
import { readWorkSchema } from './work-schema.ts';

const nameField = (value?: string) => ({ name: 'name', label: 'Name', value });

const kindOf = (visit: Visit): WorkKind => (visit.query('starts') === 'assembly_run' ? 'assembly_run' : 'run');

const newForm = formPage(pages.newSchedule, {
  read: async () => null,
  describe: async (_subject, visit) => {
    const kind = kindOf(visit);
    const other = kind === 'run' ? 'assembly_run' : 'run';
    const path = withQuery(pagePath(pages.newSchedule), { starts: other });
    const words = { run: 'a run of a template', assembly_run: 'a run of an assembly' };
    return {
      title: 'New schedule',
      crumbs: scheduleCrumbs(),
      lead: html`<p>It starts ${words[kind]} on a schedule, with the permissions that you have then. A time is skipped while the previous work has not finished. <a href="${path}">Start ${words[other]} instead</a></p>`,
      fields: [nameField(), ...timeFields(), ...(await workFields(visit, kind))],
      schema: kind === 'run' ? await readWorkSchema(visit) : null,
      submit: 'Create schedule',
      cancel: pagePath(pages.schedules),
      refusal: visit.mayDo(create, ...(await readTeamsForNewInScope(visit))).reason,
    };
  },
  carryOut: async (_subject, typed, visit, variables) => {
    const schedule = readTimes(visit, typed);
    const { teamId: team_id, work } = await readWork(visit, kindOf(visit), typed, { variables });
    const body = { team_id, name: typed['name'], schedule, work };
    const made = await placingVariables(kindOf(visit), () => visit.run(create, { body }));
    return schedulePath(made, 'created');
  },
});

const editForm = scheduleForm(pages.editSchedule, 'update', {
  describe: (schedule, visit) => ({
    title: `Edit ${schedule.name}`,
    lead: describeAuthority(schedule, visit),
    fields: [nameField(schedule.name), ...timeFields(schedule.schedule), revisionField(schedule)],
    submit: 'Save changes',
  }),
  carryOut: async ({ id }, typed, visit) => {
    const body = { name: typed['name'], schedule: readTimes(visit, typed) };
    await visit.run(update, { params: { id }, body });
    return schedulePath({ id }, 'saved');
  },
});

/** Says under whose authority the work starts. New times do not change that. */
function describeAuthority({ id, authority }: ScheduleSubject, { principal }: Visit): Html | null {
  if (authority.id === principal.id) return null;
  const path = pagePath(pages.editScheduledWork, { id });
  return html`<p>The work goes on to run as <span class="foreign">${authority.name}</span>. <a href="${path}">Change work</a> makes it run as you.</p>`;
}

const kindOfWork = ({ work }: ScheduleSubject): WorkKind => ('run' in work ? 'run' : 'assembly_run');

const workForm = scheduleForm(pages.editScheduledWork, 'update', {
  describe: async (schedule, visit) => ({
    title: `Change what ${schedule.name} starts`,
    lead: 'From now on, the work starts with your permissions.',
    fields: [...(await workFields(visit, kindOfWork(schedule), schedule.work)), revisionField(schedule)],
    schema: kindOfWork(schedule) === 'run' ? await readWorkSchema(visit, schedule.work) : null,
    submit: 'Save work',
  }),
  carryOut: async (schedule, typed, visit, variables) => {
    const kind = kindOfWork(schedule);
    const { work } = await readWork(visit, kind, typed, { variables, saved: schedule.work });
    await placingVariables(kind, () => visit.run(update, { params: { id: schedule.id }, body: { work } }));
    return schedulePath(schedule, 'saved');
  },
});

const switches = {
  pause: {
    verb: 'Pause',
    lead: 'It starts nothing until it is resumed. Running work continues.',
    done: 'paused',
  },
  resume: {
    verb: 'Resume',
    lead: 'It starts again at its next time. Missed times are skipped.',
    done: 'resumed',
  },
} as const satisfies Record<string, { verb: string; lead: string; done: ConfirmationOf<typeof pages.schedule> }>;

function switchForm(pattern: typeof pages.pauseSchedule | typeof pages.resumeSchedule, enabled: boolean) {
  const { verb, lead, done } = enabled ? switches.resume : switches.pause;
  return scheduleForm(pattern, 'update', {
    describe: (schedule) => ({
      title: `${verb} ${schedule.name}`,
      lead,
      fields: [revisionField(schedule)],
      submit: `${verb} schedule`,
    }),
    carryOut: async (schedule, _typed, visit) => {
      await visit.run(update, { params: { id: schedule.id }, body: { enabled } });
      return schedulePath(schedule, done);
    },
  });
}

const triggerForm = scheduleForm(pages.triggerSchedule, 'trigger', {
  describe: (schedule) => ({
    title: `Start ${schedule.name} now`,
    lead: html`<p>Its work starts now and runs as <span class="foreign">${schedule.authority.name}</span>. The schedule does not change.</p>`,
    submit: 'Start now',
  }),
  carryOut: async (schedule, _typed, visit) => {
    await visit.run(trigger, { params: { id: schedule.id } });
    return schedulePath(schedule, 'triggered');
  },
});

const deletionForm = scheduleForm(pages.deleteSchedule, 'delete', {
  describe: (schedule) => ({
    title: `Delete ${schedule.name}`,
    lead: 'The schedule and its history are deleted permanently. Running work continues, and its runs are kept.',
    submit: 'Delete schedule',
    tone: 'danger',
  }),
  carryOut: async ({ id }, _typed, visit) => {
    await visit.run(remove, { params: { id } });
    return pagePath(pages.schedules, {}, { done: 'deleted' });
  },
});

/** The forms that make, change, pause, start and delete schedules. */
export const scheduleForms = [
  newForm,
  editForm,
  workForm,
  switchForm(pages.pauseSchedule, false),
  switchForm(pages.resumeSchedule, true),
  triggerForm,
  deletionForm,
];
