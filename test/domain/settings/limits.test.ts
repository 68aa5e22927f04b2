import { expect, test } from 'vitest';
import { AllowedTools } from '#domain/settings/allowed-tools.ts';
import {
  FeatureGate,
  Retention,
  retentionKinds,
  retentionOf,
  SignInNotice,
  StoredDocument,
} from '#domain/settings/document.ts';
import { docsText } from '#test/support/stated-in-docs.ts';

const text = (length: number) => 'x'.repeat(length);
const ranges = (count: number) => ({ opentofu: Array.from({ length: count }, () => '>=1.8') });
const quotas = (default_quotas: object) => ({ default_quotas });
const off = (length: number) => ({ enabled: false, reason: text(length) });

/** Each limit with the last value that is accepted, and the first that is not. */
test.each([
  ['days of retention, at least', Retention, 1, 0],
  ['days of retention, at most', Retention, 36_500, 36_501],
  ['days for which events are kept', retentionOf('events'), 30, 29],
  ['characters of the notice', SignInNotice, text(2000), text(2001)],
  ['characters of the reason why an area is off', FeatureGate, off(500), off(501)],
  ['ranges of a tool', AllowedTools, ranges(1_340), ranges(1_341)],
  ['runs', StoredDocument, quotas({ concurrent_runs: 2 ** 31 - 1 }), quotas({ concurrent_runs: 2 ** 31 })],
  ['bytes', StoredDocument, quotas({ state_bytes: 2 ** 50 }), quotas({ state_bytes: 2 ** 50 + 1 })],
  ['a limit, at least', StoredDocument, quotas({ instances: 0 }), quotas({ instances: -1 })],
])('the settings accept the limit, and no value beyond it: %s', (_what, schema, taken, refused) => {
  expect(schema.safeParse(taken).success).toBe(true);
  expect(schema.safeParse(refused).success).toBe(false);
});

test('every kind but events may be kept for one day, and every kind may be kept forever', () => {
  const shortest = retentionKinds.filter((kind) => retentionOf(kind).safeParse(1).success);
  expect(shortest).toEqual(retentionKinds.filter((kind) => kind !== 'events'));
  expect(retentionKinds.every((kind) => retentionOf(kind).safeParse('forever').success)).toBe(true);
});

test('docs/settings.md says for how long events are kept at least', () => {
  expect(docsText('settings')).toContain('forever; 30 days at least, since webhooks may send an event again');
});
