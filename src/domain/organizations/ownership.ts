import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';

export const organizationKinds = [
  {
    kind: 'organization',
    table: 'organizations',
    label: 'slug',
    revision: true,
    generation: true,
    tombstone: true,
    hiddenWhenDeleted: true,
    archivable: true,
    slug: { constraint: 'organization_slugs_pkey', history: 'organization_slug' },
  },
  {
    kind: 'organization_slug',
    table: 'organization_slugs',
    key: ['slug'],
    label: 'slug',
    owners: [{ kind: 'organization', columns: ['organizationId'], cascade: { rows: 'deleted' } }],
  },
] as const satisfies readonly Declaration[];
