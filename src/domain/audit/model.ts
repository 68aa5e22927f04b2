/** A record of the audit as it is read. `before` and `after` hold what changed, secrets left out. */
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

/** Which records are wanted: those to which all of this applies. */
export interface AuditFilter {
  /** The id of a user or service account, a user's e-mail address, or the name of what acts by itself (`anonymous`). */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly outcome?: AuditRecord['outcome'] | undefined;
  readonly resource_type?: string | undefined;
  readonly resource_id?: string | undefined;
  readonly organization_id?: string | undefined;
  readonly team_id?: string | undefined;
  readonly request_id?: string | undefined;
  /** The first moment that is wanted. */
  readonly from?: string | undefined;
  /** The first moment that is not wanted any more. */
  readonly to?: string | undefined;
}
