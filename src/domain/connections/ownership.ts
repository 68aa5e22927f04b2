import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';
import { ownerLinks } from '#domain/tenancy/owned/links.ts';

export const connectionKinds = [
  {
    kind: 'connection',
    table: 'connections',
    label: 'name',
    revision: true,
    owners: [...ownerLinks({ cascade: { rows: 'deleted' } })],
  },
] as const satisfies readonly Declaration[];
