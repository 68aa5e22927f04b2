import { describe, expect, it, test } from 'vitest';
import { overlapMs } from '#domain/shared/signing/signing-secrets.ts';
import {
  failingLimitMs,
  keptAnswerBytes,
  matchesEvent,
  pauseAfter,
  retryPausesMs,
  sendTimeoutMs,
  subscribesToAudit,
} from '#domain/webhooks/model.ts';
import { maxWebhooks } from '#domain/webhooks/webhook-changes.ts';
import { docsText, inWords } from '#test/support/stated-in-docs.ts';

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

describe('a delivery that fails', () => {
  it('is tried for three days in all', () => {
    const sum = retryPausesMs.reduce((all, pause) => all + pause, 0);
    expect(Math.round(sum / dayMs)).toBe(3);
    expect(sum).toBeLessThanOrEqual(3 * dayMs);
  });

  it.each([
    [1, 5_000],
    [2, 5 * 60_000],
    [3, 30 * 60_000],
    [4, 2 * hourMs],
    [5, 5 * hourMs],
    [6, 10 * hourMs],
    [7, 14 * hourMs],
    [8, 18 * hourMs],
    [9, 22 * hourMs],
  ])('is tried again after try %i and %i ms, or a tenth more', (attempts, pauseMs) => {
    expect(pauseAfter(attempts, 0)).toBe(pauseMs);
    expect(pauseAfter(attempts, 1)).toBe(Math.round(pauseMs * 1.1));
    const drawn = pauseAfter(attempts) ?? 0;
    expect(drawn).toBeGreaterThanOrEqual(pauseMs);
    expect(drawn).toBeLessThanOrEqual(pauseMs * 1.1);
  });

  it('is not tried again after the tenth try', () => {
    expect(pauseAfter(10, 0)).toBeNull();
  });
});

const hours = retryPausesMs.slice(3).map((pause) => pause / hourMs);
const pauses = ['5 seconds', '5 minutes', '30 minutes', ...hours.slice(0, -1)];

test.each([
  `For ${overlapMs / hourMs} hours each request carries signatures by both`,
  `within these ${overlapMs / hourMs} hours`,
  `An owner has at most ${maxWebhooks} `,
  `Answer with 2xx within ${sendTimeoutMs / 1000} seconds`,
  `after ${pauses.join(', ')} and ${hours.at(-1)} hours, and is given up after that: three days`,
  `the first ${keptAnswerBytes.toLocaleString('en')} bytes of the last answer`,
  `nothing could be delivered for ${inWords(failingLimitMs / dayMs)} days`,
])('docs/webhooks.md says "%s"', (sentence) => {
  expect(docsText('webhooks')).toContain(sentence);
});

test.each([
  ['*', 'run.finished', true],
  ['run.*', 'run.finished', true],
  ['run.finished', 'run.finished', true],
  ['run.finished', 'run.finished_late', false],
  ['run.*', 'runner.added', false],
  ['run.*', 'run', false],
  ['drift.*', 'drift_monitor.drifted', false],
  ['*', 'audit.recorded', false],
  ['audit.*', 'audit.recorded', true],
  ['audit.recorded', 'audit.recorded', true],
  ['audit.*', 'audit_records.expired', false],
])('the pattern %s matches the event %s: %s', (pattern, type, expected) => {
  expect(matchesEvent(pattern, type)).toBe(expected);
});

test.each([
  [['*'], false],
  [['run.*', '*'], false],
  [['*', 'audit.*'], true],
  [['audit.recorded'], true],
])('a webhook with the patterns %j receives audit records: %s', (patterns, expected) => {
  expect(subscribesToAudit(patterns)).toBe(expected);
});
