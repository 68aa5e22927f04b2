import { expect, it } from 'vitest';
import { refuseUnfitTime } from '#domain/drift/findings/suppression.ts';

const refuse = (until: string, now: string) => () => refuseUnfitTime(new Date(until), new Date(now));

it.each([
  ['2026-11-23T10:00:00.001Z', '2026-11-23T10:00:00.000Z'],
  ['2027-11-23T10:00:00.000Z', '2026-11-23T10:00:00.000Z'],
  ['2028-03-01T00:00:00.000Z', '2027-03-01T00:00:00.000Z'],
])('a suppression may last until %s if it is %s now', (until, now) => {
  expect(refuse(until, now)).not.toThrow();
});

it.each([
  ['2026-11-23T10:00:00.000Z', '2026-11-23T10:00:00.000Z', 'the time is past'],
  ['2027-11-23T10:00:00.001Z', '2026-11-23T10:00:00.000Z', 'within a year'],
  ['2028-03-01T00:00:00.001Z', '2027-03-01T00:00:00.000Z', 'within a year'],
])('a suppression may not last until %s if it is %s now: %s', (until, now, message) => {
  expect(refuse(until, now)).toThrow(message);
});
