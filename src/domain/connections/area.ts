import { ownedCandidates } from '#domain/owners/candidates-store.ts';
import type { DeclaredAction } from '#domain/shared/commands/declared-action.ts';
import type { Feature } from '#domain/shared/features/feature.ts';
import { sealedColumn } from '#domain/shared/sealed/sealed-column.ts';
import { ConnectionBindingSchema } from './bindings/entity.ts';
import { ConnectionSchema } from './entity.ts';
import { dataKeyContext } from './envelope.ts';
import { connectionKinds } from './ownership.ts';

export const entities = [ConnectionSchema, ConnectionBindingSchema] as const;
export const ownership = connectionKinds;

export const features = {
  connections: {
    title: 'Connections',
    operations: ['connections', 'project_connections', 'environment_connections'],
    searched: ['connection'],
  },
} as const satisfies Record<string, Feature>;

export const systemActions = {
  'connection.used': {
    summary: 'Give a worker the credentials of a connection, so that it can check a template with private modules',
    resourceType: 'connections',
    actor: 'template checks',
  },
} as const satisfies Record<string, DeclaredAction>;

/** `sealed_credentials` is sealed by the row's own key, which stays the same when the key ring changes. */
export const sealed = [
  sealedColumn({
    table: 'connections',
    column: 'sealedKey',
    key: ['id'],
    from: ['credentialRevision'],
    context: ({ id, credentialRevision: revision }) => dataKeyContext({ id, credentialRevision: Number(revision) }),
  }),
];

export const errorCodes = {
  connection_unknown: 'There is no connection of this name that the template may use.',
  connection_unbound: 'A connection that the template needs is not bound to the environment or its project.',
  connection_unfit: 'The connection that is bound is of another kind than the template needs.',
  connection_conflict: 'Two connections of the run provide the same environment variable.',
  connection_elsewhere: 'The connection that is bound belongs to others than the owners of the environment.',
  connection_unauthorized: 'The person who bound the connection may no longer bind it.',
  credentials_unavailable: 'The keys of the service do not open the credentials of the connection.',
} as const;
export const searched = {
  connection: ownedCandidates({
    table: 'connections',
    installation: 'visible',
    anyOf: ['connection:manage', 'connection:use', 'connection:test'],
  }),
};
