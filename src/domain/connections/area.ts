import { ownedCandidates } from '#domain/owners/candidates-store.ts';
import type { DeclaredAction } from '#domain/shared/commands/declared-action.ts';
import { ConnectionBindingSchema } from './bindings/entity.ts';
import { ConnectionSchema } from './entity.ts';
import { connectionsFeature } from './feature.ts';
import { connectionKinds } from './ownership.ts';
import { connectionSeals } from './sealed.ts';

export const entities = [ConnectionSchema, ConnectionBindingSchema] as const;
export const ownership = connectionKinds;
export const features = { connections: connectionsFeature };

export const systemActions = {
  'connection.used': {
    summary: 'Give a worker the credentials of a connection, so that it can check a template with private modules',
    resourceType: 'connections',
    actor: 'template checks',
  },
} as const satisfies Record<string, DeclaredAction>;
export const sealed = connectionSeals;

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
