import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { json } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import type { Ownership } from './access/decide.ts';
import type { Principal } from './access/principal.ts';
import { newId } from './ids.ts';

/** What a request was, as far as history keeps it. */
export interface RequestFacts {
  readonly requestId: string | null;
  readonly address: string | null;
}

/** What was done, and to what kind of thing: a name of the catalogue. */
export interface AuditedAction {
  readonly action: string;
  readonly resourceType: string;
}

/** What a command changed. */
export interface Change {
  /** Of the thing that was changed. */
  readonly id: string | null;
  /** Whose the thing is, where its owners are not the target's: it was made in another place, moved, or given away. */
  readonly owners?: Pick<Ownership, 'organizationId' | 'teamId'>;
  /** What changed, as it was and as it is now; whoever makes them leaves secrets out. */
  readonly before?: object | null;
  readonly after?: object | null;
  /** Of the thing, as the command left it. */
  readonly revision?: number | null;
  /** Who did it, where the work itself found that out (signing in). */
  readonly actor?: Principal;
}

/** A row of the audit: what was done to what. */
export interface AuditEntry {
  readonly action: string;
  readonly resource: { readonly type: string; readonly id: string | null };
  readonly organizationId?: string | null;
  readonly teamId?: string | null;
  readonly before?: Record<string, unknown> | null;
  readonly after?: Record<string, unknown> | null;
}

/** The row of a change to a target. What has lost its team or organization by it is found by those that it had. */
export function entryOf(
  { action, resourceType }: AuditedAction,
  { id, owners, before, after }: Change,
  target: Ownership | null | undefined,
): AuditEntry {
  return {
    ...{ action, resource: { type: resourceType, id } },
    organizationId: owners?.organizationId ?? target?.organizationId ?? null,
    teamId: owners?.teamId ?? target?.teamId ?? null,
    ...{ before: before ? inSnakeCase(before) : null, after: after ? inSnakeCase(after) : null },
  };
}

/** History names fields as the API does. */
function inSnakeCase(fields: object): Record<string, unknown> {
  const rename = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [rename(name), value]));
}

/** Writes the record of something that was done outside a command. */
export async function recordAudit(em: Em, actor: Principal, entry: AuditEntry, request: RequestFacts): Promise<void> {
  await insertAuditRecord(em, newId(), actor, entry, request).execute();
}

/** The statement that writes an audit record. A command sends it in its own transaction: no record, no command. */
export function insertAuditRecord(
  em: Em,
  id: string,
  actor: Principal,
  entry: AuditEntry,
  request: RequestFacts,
  outcome: 'committed' | 'refused' = 'committed',
) {
  return db(em)
    .insertInto('audit_records')
    .values({
      id,
      at: sql`clock_timestamp()`,
      actor_id: actor.id,
      actor_type: actor.kind,
      actor_name: actor.name,
      credential_type: actor.credential.type,
      credential_id: actor.credential.id,
      action: entry.action,
      resource_type: entry.resource.type,
      resource_id: entry.resource.id,
      organization_id: entry.organizationId ?? null,
      team_id: entry.teamId ?? null,
      outcome,
      request_id: request.requestId,
      address: request.address,
      before: entry.before ? json(entry.before) : null,
      after: entry.after ? json(entry.after) : null,
    });
}
