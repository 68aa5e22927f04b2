import type { Principal } from './access/principal.ts';

/** What a request was, as far as history keeps it. */
export interface RequestFacts {
  readonly requestId: string | null;
  readonly address: string | null;
}

/** What was done to what. `before` and `after` hold what changed, secrets left out by whoever makes them. */
export interface AuditEntry {
  readonly action: string;
  readonly resource: { readonly type: string; readonly id: string | null };
  readonly organizationId?: string | null;
  readonly teamId?: string | null;
  readonly before?: Record<string, unknown> | null;
  readonly after?: Record<string, unknown> | null;
}

/** The statement that writes an audit row. A command sends it in its own transaction: no row, no command. */
export function auditStatement(
  id: string,
  actor: Principal,
  entry: AuditEntry,
  request: RequestFacts,
  outcome: 'committed' | 'refused' = 'committed',
): [sql: string, params: unknown[]] {
  return [
    `insert into audit_records (id, at, actor_id, actor_type, actor_name, credential_type, credential_id, action, resource_type, resource_id,
        organization_id, team_id, outcome, request_id, address, before, after)
     values (?, clock_timestamp(), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      id,
      ...[actor.id, actor.kind, actor.name, actor.credential.type, actor.credential.id],
      ...[entry.action, entry.resource.type, entry.resource.id],
      ...[entry.organizationId ?? null, entry.teamId ?? null, outcome, request.requestId, request.address],
      ...[jsonOrNull(entry.before), jsonOrNull(entry.after)],
    ],
  ];
}

function jsonOrNull(value: Record<string, unknown> | null | undefined): string | null {
  return value ? JSON.stringify(value) : null;
}
