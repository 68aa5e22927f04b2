import { ownerLinks } from '#domain/owners/links.ts';
import type { Declaration } from '#domain/shared/ownership-graph/declaration.ts';
import { voidOnTransfer } from '#domain/shared/ownership-graph/voiding.ts';

export const connectionKinds = [
  {
    kind: 'connection',
    table: 'connections',
    label: 'name',
    revision: true,
    owners: [...ownerLinks({ cascade: { rows: 'deleted' } })],
  },
  {
    kind: 'connection_binding',
    table: 'connection_bindings',
    label: 'name',
    owners: [{ kind: 'connection', columns: ['connectionId'], cascade: { rows: 'deleted' } }],
    references: [
      { kind: 'project', columns: ['projectId'], cascade: { rows: 'deleted' }, onTransfer: voidOnTransfer },
      { kind: 'environment', columns: ['environmentId'], cascade: { rows: 'deleted' }, onTransfer: voidOnTransfer },
      { kind: 'principal', columns: ['boundBy'], kept: 'it gives nothing while whoever bound it may not bind it' },
    ],
  },
] as const satisfies readonly Declaration[];
