import { type SqlBool, sql } from 'kysely';
import type { Declaration, Row } from '#domain/shared/ownership-graph/declaration.ts';

const history = 'what a scan found outlives the monitor and the run that found it';

/** A monitor is deleted with what it watches. Its findings stay as history that no list shows. */
const endsWith = {
  cascade: {
    rows: 'ended',
    at: 'deleted_at',
    when: (row: Row<'deleted_at'>) => sql<SqlBool>`${row('deleted_at')} is null`,
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
      { kind: 'environment', columns: ['environment_id'], ...endsWith },
      // The team of its environment; without an environment, that of its template or its instance.
      { kind: 'team', columns: ['team_id'], follows: 'environment', ...endsWith },
    ],
    references: [
      { kind: 'instance', columns: ['instance_id'], ...endsWith },
      { kind: 'template', columns: ['template_id'], ...endsWith },
      { kind: 'drift_monitor', columns: ['inherited_from'], ...endsWith },
    ],
  },
  {
    kind: 'drift_scan',
    table: 'drift_scans',
    key: ['run_id'],
    label: (row) => sql<string>`${row('run_id')}::text`,
    owners: [{ kind: 'drift_monitor', columns: ['monitor_id'], kept: history }],
    references: [
      { kind: 'run', columns: ['run_id'], kept: history },
      { kind: 'run', columns: ['deployed_run_id'], kept: history },
    ],
  },
  {
    kind: 'drift_finding',
    table: 'drift_findings',
    label: 'address',
    revision: true,
    owners: [
      { kind: 'drift_monitor', columns: ['monitor_id'], kept: history },
      { kind: 'team', columns: ['team_id'], follows: 'drift_monitor', kept: history },
    ],
    references: [
      { kind: 'instance', columns: ['instance_id'], kept: history },
      { kind: 'run', columns: ['last_run_id'], kept: history },
      { kind: 'drift_evidence', columns: ['evidence_id'], kept: history },
    ],
  },
  {
    kind: 'drift_evidence',
    table: 'drift_evidence',
    label: (row) => sql<string>`${row('id')}::text`,
    owners: [{ kind: 'drift_finding', columns: ['finding_id'], kept: history }],
    references: [
      { kind: 'run', columns: ['run_id'], kept: history },
      { kind: 'run', columns: ['deployed_run_id'], kept: history },
      { kind: 'run', columns: ['slot_held_by'], kept: history },
    ],
  },
] as const satisfies readonly Declaration[];
