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
        columns: ['principal_id'],
        kept: 'a key stays bound for good to the principal that used it',
      },
    ],
  },
  {
    kind: 'domain_event',
    table: 'domain_events',
    references: [
      { kind: 'organization', columns: ['organization_id'], kept: history },
      { kind: 'team', columns: ['team_id'], kept: history },
      { kind: 'project', columns: ['project_id'], kept: history },
      { kind: 'principal', columns: ['actor_id'], kept: history },
    ],
  },
  {
    kind: 'event_number',
    table: 'event_numbers',
    key: ['subject_kind', 'subject_id'],
    references: [{ kind: 'project', columns: ['project_id'], kept: history }],
  },
  {
    kind: 'ended_eligibility',
    table: 'ended_eligibilities',
    key: ['thing_id', 'generation'],
    references: [{ kind: 'principal', columns: ['ended_by'], kept: 'who ended something stays known' }],
  },
] as const satisfies readonly Declaration[];
