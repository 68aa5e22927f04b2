import type { Declaration } from './ownership-graph/declaration.ts';

const history = 'an event keeps who owned its subject and who acted when it happened';

export const sharedKinds = [
  {
    kind: 'command_receipt',
    table: 'command_receipts',
    key: ['key'],
    references: [
      {
        kind: 'principal',
        columns: ['principalId'],
        kept: 'a key stays bound for good to the principal that used it',
      },
    ],
  },
  {
    kind: 'domain_event',
    table: 'domain_events',
    references: [
      { kind: 'organization', columns: ['organizationId'], kept: history },
      { kind: 'team', columns: ['teamId'], kept: history },
      { kind: 'project', columns: ['projectId'], kept: history },
      { kind: 'principal', columns: ['actorId'], kept: history },
    ],
  },
  {
    kind: 'event_number',
    table: 'event_numbers',
    key: ['subjectKind', 'subjectId'],
    references: [{ kind: 'project', columns: ['projectId'], kept: history }],
  },
  {
    kind: 'ended_eligibility',
    table: 'ended_eligibilities',
    key: ['thingId', 'generation'],
    references: [{ kind: 'principal', columns: ['endedBy'], kept: 'who ended something stays known' }],
  },
] as const satisfies readonly Declaration[];
