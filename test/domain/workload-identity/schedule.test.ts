import { describe, expect, it } from 'vitest';
import { type KeyTimes, scheduleOf, startOfDueKey } from '#domain/workload-identity/signing-keys/schedule.ts';

const start = Date.parse('2026-03-01T00:00:00Z');
const hours = (count: number) => new Date(start + count * 3_600_000);
/** A key that begins to sign at an hour, and was created at the same or another hour. */
const key = (signs: number, made = signs): KeyTimes => ({
  signsFrom: hours(signs).toISOString(),
  createdAt: hours(made).toISOString(),
});
const statuses = (keys: KeyTimes[], hour: number) => scheduleOf(keys, hours(hour)).map(({ status }) => status);

describe('the published keys', () => {
  it('are the signing key, and around a rotation also the next or the previous key', () => {
    const keys = [key(0), key(10, 9)];
    expect(statuses(keys, 8)).toEqual(['upcoming', 'signing']);
    expect(statuses(keys, 9.99)).toEqual(['upcoming', 'signing']);
    expect(statuses(keys, 10)).toEqual(['signing', 'retired']);
    expect(statuses(keys, 11)).toEqual(['signing', 'retired']);
    expect(statuses(keys, 11.1)).toEqual(['signing']);
  });

  it('include a retired key until the longest token has expired, and five minutes longer for wrong clocks', () => {
    const [, retired] = scheduleOf([key(0), key(10, 9)], hours(10.5));
    expect(retired?.publishedUntil).toEqual(new Date(hours(11).getTime() + 300_000));
  });

  it('get their statuses in whatever order they are read', () => {
    const keys = [key(10, 9), key(0), key(5, 4)];
    expect(statuses(keys, 10.5)).toEqual(['signing', 'retired']);
    expect(statuses(keys.toReversed(), 10.5)).toEqual(['signing', 'retired']);
  });
});

describe('the next key', () => {
  const due = (keys: KeyTimes[], hour: number) => startOfDueKey(scheduleOf(keys, hours(hour)), hours(hour), 1);

  it('signs at once if it is the first key', () => {
    expect(due([], 3)).toEqual(hours(3));
  });

  it('is published an hour before the signing key expires', () => {
    expect(due([key(0)], 22.9)).toBeNull();
    expect(due([key(0)], 23)).toEqual(hours(24));
  });

  it('is not published twice', () => {
    expect(due([key(0), key(24, 23)], 23.5)).toBeNull();
  });

  it('is published an hour before it signs, even after a long stop of the service', () => {
    expect(due([key(0)], 500)).toEqual(hours(501));
  });
});
