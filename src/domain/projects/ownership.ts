import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

export const projectKinds = [
  {
    kind: 'project',
    table: 'projects',
    label: 'slug',
    revision: true,
    generation: true,
    tombstone: true,
    archivable: true,
    slug: { constraint: 'projects_team_slug_unique' },
    owners: [
      {
        kind: 'team',
        columns: ['teamId'],
        blocker: { message: 'has projects', remedy: 'delete or transfer them first' },
      },
    ],
  },
] as const satisfies readonly Declaration[];
