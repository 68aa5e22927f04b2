import type { ScheduleSpec } from '#domain/shared/schedules/model.ts';
import type { Visit } from '../visit/visit.ts';
import type { FormField } from './fields/form-field.ts';
import type { Typed } from './form-page.ts';

/** The fields that say at which times something happens. A person fills in either the expression or the interval. */
export function timeFields(spec?: ScheduleSpec): FormField[] {
  const { cron, timezone } = spec && 'cron' in spec ? spec : { cron: '', timezone: 'UTC' };
  return [
    {
      name: 'schedule.cron',
      label: 'Cron schedule',
      value: cron,
      isOptional: true,
      hint: 'Minute, hour, day of the month, month and day of the week: "0 18 * * MON-FRI" is 18:00 from Monday to Friday.',
    },
    {
      name: 'schedule.timezone',
      label: 'Time zone',
      value: timezone,
      isOptional: true,
      hint: 'Such as Europe/Berlin. It applies to the cron schedule only.',
    },
    {
      name: 'schedule.every',
      label: 'Or an interval',
      value: spec && 'every' in spec ? spec.every : '',
      isOptional: true,
      hint: 'Such as 6h or 1d, instead of a cron schedule. At least 5 minutes.',
    },
  ];
}

/** Reads the times that were typed. If the form does not have exactly one of expression and interval, adds a problem to the visit. */
export function readTimes(visit: Visit, typed: Typed): ScheduleSpec {
  const [cron = '', every = ''] = [typed['schedule.cron']?.trim(), typed['schedule.every']?.trim()];
  if (cron === '' && every === '')
    visit.addProblem('schedule.cron', 'enter a cron schedule, or an interval below', 'schedule');
  if (cron !== '' && every !== '')
    visit.addProblem(
      'schedule.every',
      'enter either a cron schedule or an interval: leave one of them empty',
      'schedule',
    );
  return every === '' ? { cron, timezone: typed['schedule.timezone']?.trim() || 'UTC' } : { every };
}
