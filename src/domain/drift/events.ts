import { z } from 'zod';
import type { EventType } from '#domain/shared/events/event-type.ts';
import { terminalStatuses } from '#domain/shared/vocabulary/runs.ts';
import { findingReasons } from './findings/model.ts';
import { monitorScopes } from './model.ts';

const by = z.string();
const count = z.number().int();
const place = { monitor_id: z.string(), instance_id: z.string(), address: z.string(), path: z.string() };

/** The events of monitors and their findings. Clients match the types, so these never change. */
export const driftEvents = {
  'drift_monitor.created': {
    subject: 'drift_monitor',
    summary: 'A drift monitor of an instance, an environment or a template was created',
    data: z.strictObject({ by, scope: z.enum(monitorScopes) }),
  },
  'drift_monitor.changed': {
    subject: 'drift_monitor',
    summary: 'The schedule of a drift monitor was changed, or the monitor was turned on or off',
    data: z.strictObject({ by, enabled: z.boolean() }),
  },
  'drift_monitor.deleted': {
    subject: 'drift_monitor',
    summary: 'A drift monitor was deleted',
    data: z.strictObject({ by, scope: z.enum(monitorScopes) }),
  },
  'drift_monitor.scanned': {
    subject: 'drift_monitor',
    summary: 'A scan of a drift monitor ended',
    data: z.strictObject({
      run_id: z.string(),
      status: z.enum(terminalStatuses),
      found: count,
      ignored: count,
      opened: count,
      resolved: count,
      failing_checks: count.nullable().optional(),
      opened_perpetual: count.optional(),
    }),
  },
  'drift_finding.opened': {
    subject: 'drift_finding',
    summary: 'A scan found a deviation that was not open, or a suppression ended',
    data: z.strictObject({ ...place, reason: z.enum(findingReasons), run_id: z.string().nullable() }),
  },
  'drift_finding.resolved': {
    subject: 'drift_finding',
    summary: 'A deviation is gone',
    data: z.strictObject({ ...place, reason: z.enum(findingReasons), run_id: z.string() }),
  },
  'drift_finding.suppressed': {
    subject: 'drift_finding',
    summary: 'The observed value was accepted for a while',
    data: z.strictObject({ ...place, by, reason: z.string(), until: z.string() }),
  },
  'drift_finding.remediation_requested': {
    subject: 'drift_finding',
    summary: 'A run that removes a deviation was requested',
    data: z.strictObject({ ...place, by, direction: z.enum(['revert', 'adopt']), run_id: z.string() }),
  },
} as const satisfies Record<string, EventType>;
