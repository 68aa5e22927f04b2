import { describe, expect, it, vi } from 'vitest';
import { type FreezeWindow, FreezeWindows, findFreeze } from '#domain/environments/freeze-windows.ts';
import { findHold } from '#domain/holds/holds.ts';
import type { StoredHold } from '#domain/shared/vocabulary/holds.ts';

const once = {
  name: 'Year end',
  reason: 'closing',
  starts_at: '2026-12-20T00:00:00+01:00',
  ends_at: '2027-01-04T06:00:00Z',
};
const weekend = weekly('friday 16:00', 'monday 08:00');

function weekly(from: string, to: string, timeZone = 'Europe/Berlin'): FreezeWindow {
  const moment = (text: string) => ({ day: text.split(' ')[0], time: text.split(' ')[1] });
  const week = { starts: moment(from), ends: moment(to) };
  return FreezeWindows.parse([{ name: `${from} to ${to}`, weekly: week, time_zone: timeZone }])[0] as FreezeWindow;
}

const at = (window: FreezeWindow, time: string) => findFreeze([window], new Date(time));
const first = FreezeWindows.parse([once])[0] as FreezeWindow;

type Row = [title: string, window: FreezeWindow, time: string, frozen: [since: string, until: string] | null];

describe('a freeze window', () => {
  it.each([
    ['starts before the year 1', { ...once, starts_at: '0001-01-01T00:00:00+00:01' }],
    ['ends after the year 9999', { ...once, ends_at: '9999-12-31T23:59:59-00:01' }],
  ])('a freeze window that %s in UTC is refused, and says which years are right', (_what, window) => {
    expect(() => FreezeWindows.parse([window])).toThrow('in the years 0001 to 9999 of UTC');
  });

  it('a freeze window may end with the year 9999', () => {
    const [window] = FreezeWindows.parse([{ ...once, ends_at: '9999-12-31T23:59:59.999Z' }]);
    expect(at(window!, '9999-01-01T00:00:00Z')?.until).toBe('9999-12-31T23:59:59.999Z');
  });

  const yearEnd: [string, string] = ['2026-12-19T23:00:00.000Z', '2027-01-04T06:00:00.000Z'];
  const winter: [string, string] = ['2026-11-20T15:00:00.000Z', '2026-11-23T07:00:00.000Z'];
  it.each<Row>([
    ['is closed before it starts', first, '2026-12-19T22:59:59.999Z', null],
    ['is open from its start', first, '2026-12-19T23:00:00Z', yearEnd],
    ['is closed from its end', first, '2027-01-04T06:00:00Z', null],
    ['of every week is closed before it starts', weekend, '2026-11-20T14:59:59Z', null],
    ['of every week is open from its start', weekend, '2026-11-20T15:00:00Z', winter],
    ['of every week stays open over the end of the week', weekend, '2026-11-22T23:30:00Z', winter],
    ['of every week is closed from its end', weekend, '2026-11-23T07:00:00Z', null],
    ['follows summer time', weekend, '2026-07-03T14:00:00Z', ['2026-07-03T14:00:00.000Z', '2026-07-06T06:00:00.000Z']],
    [
      'that includes the change to summer time is an hour shorter',
      weekend,
      '2026-03-28T12:00:00Z',
      ['2026-03-27T15:00:00.000Z', '2026-03-30T06:00:00.000Z'],
    ],
    [
      'that includes the change to winter time is an hour longer',
      weekend,
      '2026-10-24T12:00:00Z',
      ['2026-10-23T14:00:00.000Z', '2026-10-26T07:00:00.000Z'],
    ],
    [
      'that starts at an hour that clocks skip starts when they are set forward',
      weekly('sunday 02:30', 'sunday 06:00'),
      '2026-03-29T01:00:00Z',
      ['2026-03-29T01:00:00.000Z', '2026-03-29T04:00:00.000Z'],
    ],
    [
      'that ends at an hour that clocks show twice ends the second time',
      weekly('sunday 01:00', 'sunday 02:30'),
      '2026-10-25T01:15:00Z',
      ['2026-10-24T23:00:00.000Z', '2026-10-25T01:30:00.000Z'],
    ],
    [
      'that starts at an hour that clocks show twice starts the first time',
      weekly('sunday 02:30', 'sunday 06:00'),
      '2026-10-25T00:30:00Z',
      ['2026-10-25T00:30:00.000Z', '2026-10-25T05:00:00.000Z'],
    ],
    [
      'may last almost the whole week',
      weekly('monday 08:00', 'monday 07:59', 'UTC'),
      '2026-11-23T07:58:59Z',
      ['2026-11-16T08:00:00.000Z', '2026-11-23T07:59:00.000Z'],
    ],
    [
      'follows clocks that differ by parts of an hour',
      weekly('monday 00:00', 'tuesday 00:00', 'Asia/Kathmandu'),
      '2026-11-22T18:15:00Z',
      ['2026-11-22T18:15:00.000Z', '2026-11-23T18:15:00.000Z'],
    ],
  ])('%s', (_title, window, time, frozen) => {
    const found = at(window, time);
    expect(found && [found.since, found.until]).toEqual(frozen);
  });

  it('the freeze window that ends last is reported if several are open', () => {
    const long = { ...first, name: 'Longer', ends_at: '2027-02-01T00:00:00Z' } as FreezeWindow;
    const found = findFreeze([weekend, long, first], new Date('2026-12-26T12:00:00Z'));
    expect(found?.window.name).toBe('Longer');
  });
});

describe('date formatters of a time zone', () => {
  it('are cached for the next use, but not for every spelling of the name', () => {
    const spellings = Array.from({ length: 2500 }, (_, index) => spell('america/indiana/indianapolis', index));
    const windows = spellings.map((zone) => weekly('friday 16:00', 'monday 08:00', zone));
    const made = vi.spyOn(Intl, 'DateTimeFormat');
    const uses = (window: FreezeWindow) => {
      made.mockClear();
      at(window, '2026-11-22T12:00:00Z');
      return made.mock.calls.length;
    };
    expect([uses(windows[0]!), uses(windows[0]!)]).toEqual([1, 0]);
    for (const window of windows) uses(window);
    expect(uses(windows[0]!)).toBe(1);
    made.mockRestore();
  });
});

/** The name with capital letters where the number has ones in the binary system. */
function spell(name: string, number: number): string {
  return [...name].map((letter, index) => ((number >> index) & 1 ? letter.toUpperCase() : letter)).join('');
}

describe('the validation of freeze windows', () => {
  const week = { starts: { day: 'friday', time: '16:00' }, ends: { day: 'monday', time: '08:00' } };
  it.each<[string, object[]]>([
    ['if one ends before it starts', [{ ...once, ends_at: '2026-12-01T00:00:00Z' }]],
    ['if two have the same name', [once, once]],
    ['if one has no name', [{ ...once, name: ' ' }]],
    ['if one is both once and weekly', [{ ...once, weekly: week, time_zone: 'UTC' }]],
    ['if a weekly one has no time zone', [{ name: 'a', weekly: week }]],
    ['if its time zone is an offset', [{ name: 'a', weekly: week, time_zone: '+03:00' }]],
    ['if its time zone does not exist', [{ name: 'a', weekly: week, time_zone: 'Europe/Atlantis' }]],
    ['if a weekly one ends when it starts', [{ name: 'a', weekly: { ...week, ends: week.starts }, time_zone: 'UTC' }]],
    [
      'if a time of day does not exist',
      [{ name: 'a', weekly: { ...week, ends: { day: 'monday', time: '24:00' } }, time_zone: 'UTC' }],
    ],
    ['if there are too many', Array.from({ length: 51 }, (_, index) => ({ ...once, name: `${index}` }))],
  ])('freeze windows are refused %s', (_title, windows) => {
    expect(FreezeWindows.safeParse(windows).success).toBe(false);
  });
});

describe('the blocker of applies', () => {
  const now = new Date('2026-12-26T12:00:00Z');
  const stored = (reason: string, until: string | null = null): StoredHold => ({
    reason,
    since: '2026-12-26T10:00:00.000Z',
    until,
    by: { type: 'user', id: 'u', name: 'Ann' },
  });

  it('is the pause rather than the lock, and the lock rather than a freeze window', () => {
    const facts = { pause: stored('all'), lock: stored('this'), windows: [first] };
    expect(findHold(facts, now)?.code).toBe('paused');
    expect(findHold({ ...facts, pause: null }, now)?.code).toBe('locked');
    expect(findHold({ ...facts, pause: null, lock: null }, now)).toEqual({
      code: 'frozen',
      since: expect.any(String),
      blocker: { by: null, name: 'Year end', reason: 'closing', until: '2027-01-04T06:00:00.000Z' },
    });
  });

  it('is null once the pause and the lock have expired', () => {
    const over = stored('over', '2026-12-26T12:00:00.000Z');
    expect(findHold({ pause: over, lock: over, windows: null }, now)).toBeNull();
  });
});
