import type { Principal } from './access/principal.ts';
import type { Em } from './database.ts';
import { newId } from './ids.ts';

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
    `insert into audit_records (id, at, actor_id, actor_type, actor_name, credential_id, action, resource_type, resource_id,
        organization_id, team_id, outcome, request_id, address, before, after)
     values (?, clock_timestamp(), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      id,
      ...[actor.id, actor.kind, actor.name, actor.credential.id, entry.action, entry.resource.type, entry.resource.id],
      ...[entry.organizationId ?? null, entry.teamId ?? null, outcome, request.requestId, request.address],
      ...[jsonOrNull(entry.before), jsonOrNull(entry.after)],
    ],
  ];
}

/** Keeps refusals from being a way to fill the disk: so many rows a minute for each principal. */
export class RefusalLog {
  readonly #perMinute: number;
  #minute = 0;
  #counts = new Map<string, number>();

  constructor(perMinute = 60) {
    this.#perMinute = perMinute;
  }

  /** Records a refusal by itself, outside any command, unless its principal has used up this minute's share. */
  async record(em: Em, actor: Principal, entry: AuditEntry, request: RequestFacts): Promise<void> {
    if (!this.#admit(actor.id)) return;
    await em.execute(...auditStatement(newId(), actor, entry, request, 'refused'));
  }

  #admit(actorId: string): boolean {
    const minute = Math.floor(Date.now() / 60_000);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#counts = new Map();
    }
    const count = (this.#counts.get(actorId) ?? 0) + 1;
    this.#counts.set(actorId, count);
    return count <= this.#perMinute;
  }
}

function jsonOrNull(value: Record<string, unknown> | null | undefined): string | null {
  return value ? JSON.stringify(value) : null;
}
