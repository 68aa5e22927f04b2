import { z } from 'zod';
import type { RequestMetadata } from '#api/pipeline/call.ts';
import { revisionFor } from '#api/pipeline/headers/if-match.ts';
import { ignoringShown, ShownRevision } from '#api/pipeline/written-back.ts';
import { maxBindings, type WantedBinding } from '#domain/connections/bindings/model.ts';
import { ConnectionName } from '#domain/registry/spec.ts';
import { Id } from '#domain/shared/ids.ts';
import { variablePhases } from '#domain/variables/model.ts';
import { BindingsView, BindingView } from './binding-views.ts';

const phases = z
  .array(z.enum(variablePhases))
  .min(1)
  .max(variablePhases.length)
  .refine((named) => new Set(named).size === named.length, { error: 'must not name a phase twice' });

const Binding = ignoringShown(
  z.object({
    connection_id: Id,
    phases: phases.default([...variablePhases]).describe('The phases of runs that are given the connection.'),
  }),
  BindingView,
).meta({ id: 'BindConnection' });

export const NamedBindings = z
  .record(ConnectionName, Binding)
  .refine((named) => Object.keys(named).length <= maxBindings, {
    error: `must have at most ${maxBindings} names`,
  })
  .meta({ id: 'NamedBindings' });

/** The bindings by name, either alone or in the form in which they are read, with their revision. */
export const BindConnections = z
  .union([
    NamedBindings,
    ignoringShown(z.object({ connections: NamedBindings, ...ShownRevision }), BindingsView).meta({
      id: 'BindConnectionsAsRead',
    }),
  ])
  .meta({ id: 'BindConnections' });

type Sent = z.output<typeof BindConnections>;

export function toWanted(body: Sent): Record<string, WantedBinding> {
  const bindings = isAsRead(body) ? body.connections : body;
  return Object.fromEntries(
    Object.entries(bindings).map(([name, { connection_id: connectionId, phases }]) => [name, { connectionId, phases }]),
  );
}

/** The revision that a request is based on. @throws Invalid if the request names two */
export function revisionOfBindings(body: Sent, headers: RequestMetadata['headers']): number | undefined {
  return revisionFor(isAsRead(body) ? body : {}, headers);
}

/** Whether the body has the form in which bindings are read. A binding may itself be named `connections`; it then has a `connection_id`. */
function isAsRead(body: Sent): body is Extract<Sent, { connections: z.output<typeof NamedBindings> }> {
  const { connections } = body;
  return connections !== undefined && typeof connections['connection_id'] !== 'string';
}
