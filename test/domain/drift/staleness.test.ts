import { describe, expect, it } from 'vitest';
import { isStale, type ScanHistory } from '#domain/drift/monitors/staleness.ts';

const hourly: ScanHistory = {
  id: '019f0210-ad93-7000-8500-d89f7756aa40',
  scope: 'instance',
  schedule: { every: 'PT1H' },
  enabled: true,
  hasResources: true,
  createdAt: '2026-01-01T00:00:00Z',
  lastSuccessAt: '2026-01-10T12:00:00Z',
};
const at = (time: string, change: Partial<ScanHistory> = {}) => isStale({ ...hourly, ...change }, new Date(time));

describe('the staleness of a monitor', () => {
  it('a monitor is stale once three scheduled times have passed without a successful scan, and not before', () => {
    expect(at('2026-01-10T14:59:00Z')).toBe(false);
    expect(at('2026-01-10T16:01:00Z')).toBe(true);
  });

  it('a monitor is stale if it has never succeeded since it was created', () => {
    expect(at('2026-01-01T02:00:00Z', { lastSuccessAt: null })).toBe(false);
    expect(at('2026-01-01T05:00:00Z', { lastSuccessAt: null })).toBe(true);
  });

  it('a monitor is stale by the scheduled times of its cron expression, in its time zone', () => {
    const schedule = { cron: '0 6 * * MON', timezone: 'Europe/Berlin' };
    expect(at('2026-01-26T06:00:00Z', { schedule })).toBe(false);
    expect(at('2026-02-02T06:00:00Z', { schedule })).toBe(true);
  });

  it('a monitor is never stale while it is disabled, watches an environment, or its instance has no resources', () => {
    for (const change of [{ enabled: false }, { scope: 'environment' as const }, { hasResources: false }])
      expect(at('2026-02-01T00:00:00Z', change)).toBe(false);
  });
});
