import { z } from 'zod';
import { actionsOf } from '#api/pipeline/actions.ts';
import { answerOf } from '#api/pipeline/fields.ts';
import { ownerOf, ownerView } from '#api/pipeline/owned.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import { connectionKinds } from '#domain/connections/kinds/kinds.ts';
import type { ConnectionDetails, ConnectionTarget } from '#domain/connections/store.ts';
import { findArchivedRefusal } from '#domain/shared/archiving.ts';

/** What a caller may do with a connection. */
export const connectionActions = actionsOf<ConnectionTarget>()({
  update: { operation: 'connections.update', findRefusal: findArchivedRefusal },
  rotate: { operation: 'connections.rotate', findRefusal: findArchivedRefusal },
  test: { operation: 'connections.test' },
  delete: { operation: 'connections.delete' },
});

/** A connection in a list. No answer contains credentials or needs to decrypt them. */
export const ListedConnectionView = z
  .object({
    id: AnswerId,
    ...ownerView,
    name: z.string(),
    kind: z.enum(connectionKinds),
    config: z.record(z.string(), z.unknown()),
    provides: z.array(z.string()).describe('The environment variables that a run gets from it.'),
    credential_revision: z.int().describe('How often its credentials were set.'),
    credentials_set_at: Time,
    revision: z.int(),
    created_at: Time,
  })
  .meta({ id: 'ListedConnection' });

/** A single connection. */
export const ConnectionView = ListedConnectionView.extend({ actions: connectionActions.view }).meta({
  id: 'Connection',
});

export const ConnectionTestView = z
  .object({
    ok: z.boolean(),
    tried: z.string().describe('What was tried, and what was not.'),
    problem: z.string().nullable().describe('Why it did not work; null: it did.'),
  })
  .meta({ id: 'ConnectionTest' });

export function viewConnection(connection: ConnectionDetails): z.input<typeof ListedConnectionView> {
  return answerOf(ListedConnectionView.shape, { ...connection, ...ownerOf(connection) });
}
