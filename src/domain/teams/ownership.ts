import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

export const teamKinds = [
  {
    kind: 'team',
    table: 'teams',
    label: 'slug',
    revision: true,
    generation: true,
    tombstone: true,
    hiddenWhenDeleted: true,
    archivable: true,
    slug: { constraint: 'teams_organization_slug_unique' },
    owners: [
      {
        kind: 'organization',
        columns: ['organizationId'],
        blocker: { message: 'has teams', remedy: 'delete or transfer them first' },
      },
    ],
  },
] as const satisfies readonly Declaration[];
