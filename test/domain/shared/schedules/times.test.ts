import { describe, expect, it } from 'vitest';
import { parseCron } from '#domain/shared/schedules/cron.ts';
import { describeSchedule } from '#domain/shared/schedules/describe-schedule.ts';
import { nextTimes } from '#domain/shared/schedules/next-times.ts';
import { ScheduleBody } from '#domain/shared/schedules/schedule-body.ts';

const id = '0190aaaa-0000-7000-8000-000000000001';
const next = (cron: string, timezone: string, from: string, count: number) =>
  nextTimes({ cron, timezone }, id, new Date(from), count).map((time) => time.toISOString());

describe('a cron expression', () => {
  it.each([
    ['0 18 * * MON-FRI', { minute: [0], hour: [18], dayOfWeek: [1, 2, 3, 4, 5] }],
    ['*/15 8-10 * * *', { minute: [0, 15, 30, 45], hour: [8, 9, 10] }],
    ['5,35 0 1 jan,7 *', { minute: [5, 35], dayOfMonth: [1], month: [1, 7] }],
    ['0 0 * * 5-7', { dayOfWeek: [0, 5, 6] }],
    ['0 8-18/5 * * sun', { hour: [8, 13, 18], dayOfWeek: [0] }],
    ['*/59 8-8/1 * * *', { minute: [0, 59], hour: [8] }],
  ])('%s is expanded to the values of its fields', (text, fields) => {
    expect(parseCron(text)).toMatchObject(fields);
  });

  it.each([
    ['0 18 * *', 'expected five fields'],
    ['@daily', 'expected five fields'],
    ['0 24 * * *', '"24" is not a valid hour: expected a value'],
    ['60 1 * * *', '"60" is not a valid minute'],
    ['0 1 * * FRY', '"FRY" is not a valid day of the week'],
    ['0 1 0 * *', '"0" is not a valid day of the month'],
    ['*/0 1 * * *', '"*/0" is not a valid minute'],
    ['5/10 1 * * *', '"5/10" is not a valid minute'],
    ['0 22-6 * * *', 'ends before it begins'],
    ['0 1 13 * FRI', 'limit one of them only'],
    ['0 1 L * *', '"L" is not a valid day of the month'],
    [', 1 * * *', 'is not a valid minute'],
    ['*/60 1 * * *', 'the step in "*/60" leads past every minute but the first'],
    ['0 8-10/3 * * *', 'the step in "8-10/3" leads past every hour but the first'],
  ])('%s is refused with what would be right', (text, message) => {
    expect(() => parseCron(text)).toThrow(message);
  });
});

it('a schedule keeps its expression with single spaces, whatever stood between its fields', () => {
  const cron = ' 0\t18\n *  *\ufeffMON ';
  expect(ScheduleBody.parse({ cron })).toEqual({ cron: '0 18 * * MON', timezone: 'UTC' });
});

describe('the scheduled times', () => {
  it('follow the local time of the time zone through the change to winter time', () => {
    expect(next('0 18 * * SUN', 'Europe/Berlin', '2026-10-17T00:00:00Z', 3)).toEqual([
      '2026-10-18T16:00:00.000Z',
      '2026-10-25T17:00:00.000Z',
      '2026-11-01T17:00:00.000Z',
    ]);
  });

  it('leave out a local time that the change to summer time skips', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-30T00:30:00.000Z',
      '2026-03-31T00:30:00.000Z',
    ]);
  });

  it('contain a local time twice if the change to winter time repeats it', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 3)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
  });

  it('begin after the requested time, on the same day if one is left', () => {
    expect(next('0 6,18 * * *', 'UTC', '2026-11-22T06:00:00Z', 2)).toEqual([
      '2026-11-22T18:00:00.000Z',
      '2026-11-23T06:00:00.000Z',
    ]);
  });

  it('find the next February 29, even if it is eight years away', () => {
    expect(next('0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z', 1)).toEqual(['2104-02-29T00:00:00.000Z']);
  });

  it('the times of an interval start at an offset that depends on the id', () => {
    const from = new Date('2026-11-22T10:00:00Z');
    const of = (one: string) => nextTimes({ every: 'PT6H' }, one, from, 3).map((time) => time.getTime());
    const [first = 0, second = 0, third = 0] = of(id);
    expect([second - first, third - second]).toEqual([21_600_000, 21_600_000]);
    expect(first).toBeGreaterThan(from.getTime());
    expect(first).toBeLessThanOrEqual(from.getTime() + 21_600_000);
    expect(of('0190aaaa-0000-7000-8000-000000000002')[0]).not.toBe(first);
  });
});

describe('the schedule in a request', () => {
  const problemsOf = (body: unknown) =>
    ScheduleBody.safeParse(body)
      .error?.issues.map((issue) => JSON.stringify(issue))
      .join() ?? null;

  it.each([[{ every: '6h' }], [{ cron: '0 18 * * MON', timezone: 'Europe/Berlin' }], [{ cron: '*/5 * * * *' }]])(
    '%j is accepted',
    (body) => {
      expect(problemsOf(body)).toBeNull();
    },
  );

  it.each([
    [{ every: '1m' }, 'expected a duration between 5m and 365d'],
    [{ cron: '* * * * *' }, 'names times that are 1 min apart'],
    [{ cron: '0,58 23 * * *', timezone: 'UTC' }, null],
    [{ cron: '0,58 0-23 * * *', timezone: 'UTC' }, 'names times that are 2 min apart'],
    [{ cron: '0 0 30 2 *' }, 'names a day that never comes'],
    [{ cron: '0 0 * * *', timezone: '+02:00' }, 'there is no time zone'],
    [{ cron: '0 0 * * *', every: '6h' }, 'nrecognized'],
  ])('%j gets the problem: %s', (body, message) => {
    if (message === null) expect(problemsOf(body)).toBeNull();
    else expect(problemsOf(body)).toContain(message);
  });
});

describe('a schedule in words', () => {
  it.each([
    ['0 18 * * MON', 'every Monday at 18:00, Europe/Berlin'],
    ['30 6,18 * * MON-FRI', 'from Monday to Friday at 06:30 and 18:30, Europe/Berlin'],
    ['0 0 * * *', 'every day at 00:00, Europe/Berlin'],
    ['0 3 1,22 * *', 'on the 1st and 22nd of every month at 03:00, Europe/Berlin'],
    ['0 3 13 1 *', 'on the 13th in January at 03:00, Europe/Berlin'],
    ['15 * * * SAT,SUN', 'every Sunday and Saturday every hour at 15 past, Europe/Berlin'],
    ['*/10 8-18 * * *', 'at */10 8-18 * * *, Europe/Berlin'],
  ])('%s is %s', (cron, words) => {
    expect(describeSchedule({ cron, timezone: 'Europe/Berlin' })).toBe(words);
  });

  it.each([
    ['6h', 'every 6 hours'],
    ['P1D', 'every day'],
    ['1h30m', 'every 90 minutes'],
    ['P2W', 'every 2 weeks'],
  ])('%s is %s', (every, words) => {
    expect(describeSchedule({ every })).toBe(words);
  });
});
