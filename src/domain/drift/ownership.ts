import { type SqlBool, sql } from 'kysely';
import type { Declaration, Row } from '#domain/shared/ownership-graph/declaration.ts';

const history = 'what a scan found outlives the monitor and the run that found it';

/** Deleting a watched thing deletes its monitor. The findings stay as history that no list shows. */
const endsWith = {
  cascade: {
    rows: 'ended',
    at: 'deletedAt',
    when: (row: Row<'deletedAt'>) => sql<SqlBool>`${row('deletedAt')} is null`,
    revised: true,
  },
} as const;

export const driftKinds = [
  {
    kind: 'drift_monitor',
    table: 'drift_monitors',
    label: (row) => sql<string>`${row('id')}::text`,
    revision: true,
    tombstone: true,
    owners: [
      { kind: 'environment', columns: ['environmentId'], ...endsWith },
      // The team of its environment; without an environment, that of its template or its instance.
      { kind: 'team', columns: ['teamId'], follows: 'environment', ...endsWith },
    ],
    references: [
      { kind: 'instance', columns: ['instanceId'], ...endsWith },
      { kind: 'template', columns: ['templateId'], ...endsWith },
      { kind: 'drift_monitor', columns: ['inheritedFrom'], ...endsWith },
    ],
  },
  {
    kind: 'drift_scan',
    table: 'drift_scans',
    key: ['runId'],
    label: (row) => sql<string>`${row('runId')}::text`,
    owners: [{ kind: 'drift_monitor', columns: ['monitorId'], kept: history }],
    references: [
      { kind: 'run', columns: ['runId'], kept: history },
      { kind: 'run', columns: ['deployedRunId'], kept: history },
    ],
  },
  {
    kind: 'drift_finding',
    table: 'drift_findings',
    label: 'address',
    revision: true,
    owners: [
      { kind: 'drift_monitor', columns: ['monitorId'], kept: history },
      { kind: 'team', columns: ['teamId'], follows: 'drift_monitor', kept: history },
    ],
    references: [
      { kind: 'instance', columns: ['instanceId'], kept: history },
      { kind: 'run', columns: ['lastRunId'], kept: history },
      { kind: 'drift_evidence', columns: ['evidenceId'], kept: history },
    ],
  },
  {
    kind: 'drift_evidence',
    table: 'drift_evidence',
    label: (row) => sql<string>`${row('id')}::text`,
    owners: [{ kind: 'drift_finding', columns: ['findingId'], kept: history }],
    references: [
      { kind: 'run', columns: ['runId'], kept: history },
      { kind: 'run', columns: ['deployedRunId'], kept: history },
      { kind: 'run', columns: ['slotHeldBy'], kept: history },
    ],
  },
] as const satisfies readonly Declaration[];
