/** An audit record as the API and exports show it. `before` and `after` hold what changed, without secrets. */
export interface AuditRecord {
  id: string;
  at: string;
  action: string;
  outcome: 'committed' | 'refused';
  actor: { type: string; id: string | null; name: string };
  credential: { type: string; id: string } | null;
  resource: { type: string; id: string | null };
  organization_id: string | null;
  team_id: string | null;
  request_id: string | null;
  address: string | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
}

/** Whether the action of a record changes something. */
export const recordKinds = ['change', 'read'] as const;
export type RecordKind = (typeof recordKinds)[number];

/** Selects the records to which every given condition applies. */
export interface AuditFilter {
  /** The id of a user, a service account or a background principal, or the name of a part of the service such as `anonymous`. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** `read`: only records of `readActions`; `change`: all others. */
  readonly kind?: RecordKind | undefined;
  /** The actions of operations that change nothing. */
  readonly readActions?: readonly string[];
  readonly outcome?: AuditRecord['outcome'] | undefined;
  readonly resource_type?: string | undefined;
  readonly resource_id?: string | undefined;
  readonly organization_id?: string | undefined;
  readonly team_id?: string | undefined;
  /** An installed plugin: only records of it, and of its assignments, background principals and resources. */
  readonly plugin_installation_id?: string | undefined;
  readonly request_id?: string | undefined;
  /** Inclusive. */
  readonly from?: string | undefined;
  /** Exclusive. */
  readonly to?: string | undefined;
}
