import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

const history = 'audit records outlive everything that they name';

export const auditKinds = [
  {
    kind: 'audit_record',
    table: 'audit_records',
    key: ['id', 'at'],
    references: [
      { kind: 'principal', columns: ['actorId'], kept: history },
      { kind: 'organization', columns: ['organizationId'], kept: history },
      { kind: 'team', columns: ['teamId'], kept: history },
    ],
  },
] as const satisfies readonly Declaration[];
