import { type Insertable, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { type Compilable, type ParameterOf, runTogether } from '#database/queries.ts';
import { json } from '#database/tables.ts';
import { prepareChange } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { Ownership } from './access/decide.ts';
import type { Principal } from './access/principal.ts';
import { newId } from './ids.ts';
import { asInApi } from './naming/api-names.ts';

/** What the audit records about a request. */
export interface RequestFacts {
  readonly requestId: string | null;
  readonly address: string | null;
}

/** An action of the audit's catalogue, and the type of its resources. */
export interface AuditedAction {
  readonly action: string;
  readonly resourceType: string;
}

/** What a command changed. */
export interface CommandChange {
  /** The id of the changed resource. */
  readonly id: string | null;
  /** The owners of the resource, if they are not those of the target: it was created elsewhere, moved or transferred. */
  readonly owners?: Pick<Ownership, 'organizationId' | 'teamId'>;
  /** The owners that the resource had before a transfer. The audit shows them a record of the transfer, as it does to the new owners. */
  readonly formerOwners?: Pick<Ownership, 'organizationId' | 'teamId'>;
  /** The changed fields, before and after the change. They must not contain secrets. */
  readonly before?: object | null;
  readonly after?: object | null;
  /** The revision of the resource after the command. */
  readonly revision?: number | null;
  /** Other resources that the command changed in the same way; each gets a record of its own. */
  readonly others?: readonly Pick<CommandChange, 'id' | 'owners' | 'before' | 'after'>[];
  /** Who performed the action, if only the work of the command can determine it: signing in does that. */
  readonly actor?: Principal;
}

/** The owners that a resource had before a transfer, and the audit record of the transfer that they can read. */
export interface FormerOwner extends Pick<Ownership, 'organizationId' | 'teamId'> {
  readonly recordId: string;
}

/** The content of an audit record: an action and its resource. */
export interface AuditEntry {
  readonly action: string;
  readonly resource: { readonly type: string; readonly id: string | null };
  /** Whether the action changes nothing. */
  readonly isRead?: boolean;
  readonly organizationId?: string | null;
  readonly teamId?: string | null;
  readonly before?: Record<string, unknown> | null;
  readonly after?: Record<string, unknown> | null;
  /** After a transfer: the earlier owners, who receive the event of the entry as well. */
  readonly former?: FormerOwner;
  /**
   * Set if the entry repeats another one for former owners: the id of its record. It publishes no event, because the event of the other
   * entry also goes to the earlier owners.
   */
  readonly repeatedAs?: string;
}

/** The audit entries of a change, including the other resources that the command changed. */
export function entriesOf(
  action: AuditedAction,
  change: CommandChange,
  target: Ownership | null | undefined,
): [AuditEntry, ...AuditEntry[]] {
  const others = (change.others ?? []).flatMap((other) => entriesOfOne(action, other, target));
  return [...entriesOfOne(action, change, target), ...others];
}

/**
 * One entry with the owners of the resource, and after a transfer another one with its former owners. A resource that now belongs to no
 * team or organization has one entry, with its former owners.
 */
function entriesOfOne(
  { action, resourceType }: AuditedAction,
  { id, owners, formerOwners, before, after }: CommandChange,
  target: Ownership | null | undefined,
): [AuditEntry, ...AuditEntry[]] {
  const entry = {
    action,
    resource: { type: resourceType, id },
    organizationId: owners?.organizationId ?? target?.organizationId ?? null,
    teamId: owners?.teamId ?? target?.teamId ?? null,
    before: before ? asInApi(before) : null,
    after: after ? asInApi(after) : null,
  };
  if (!formerOwners || !isElsewhere(formerOwners, entry)) return [entry];
  const { organizationId, teamId } = formerOwners;
  const recordId = newId();
  return [
    { ...entry, former: { organizationId, teamId, recordId } },
    { ...entry, organizationId, teamId, repeatedAs: recordId },
  ];
}

/** Whether a record with the owners of the entry would hide the change from an organization or a team. */
function isElsewhere({ organizationId, teamId }: Pick<Ownership, 'organizationId' | 'teamId'>, entry: AuditEntry) {
  const misses = (own: string | null, recorded: string | null | undefined) => own !== null && own !== recorded;
  return misses(organizationId, entry.organizationId) || misses(teamId, entry.teamId);
}

/** Writes the audit record of an action outside a command. */
export async function recordAudit(
  em: Em,
  actor: Principal,
  entry: AuditEntry,
  request: RequestFacts,
  outcome: 'committed' | 'refused' = 'committed',
): Promise<void> {
  await runTogether(em, [], insertAuditRecord(newId(), actor, entry, request, outcome));
}

/** The columns of a record except its time, in the order in which the statement names them. */
const columns = [
  'id',
  'actorId',
  'actorType',
  'actorName',
  'credentialType',
  'credentialId',
  'action',
  'resourceType',
  'resourceId',
  'organizationId',
  'teamId',
  'isRead',
  'outcome',
  'requestId',
  'address',
  'before',
  'after',
] as const;

type NewRecord = Required<Pick<Insertable<Tables['audit_records']>, (typeof columns)[number]>>;

const insertRecord = prepareChange((db, parameter: ParameterOf<NewRecord>) => {
  const values = Object.fromEntries(columns.map((column) => [column, parameter(column)])) as NewRecord;
  return db.insertInto('audit_records').values({ ...values, at: sql`clock_timestamp()` });
});

/**
 * The statement that writes an audit record. A command sends it in its own transaction, so that no command is committed without its record.
 */
export function insertAuditRecord(
  id: string,
  actor: Principal,
  entry: AuditEntry,
  request: RequestFacts,
  outcome: 'committed' | 'refused' = 'committed',
): Compilable<unknown> {
  return insertRecord({
    id,
    actorId: actor.id,
    actorType: actor.kind,
    actorName: actor.name,
    credentialType: actor.credential.type,
    credentialId: actor.credential.id,
    action: entry.action,
    resourceType: entry.resource.type,
    resourceId: entry.resource.id,
    organizationId: entry.organizationId ?? null,
    teamId: entry.teamId ?? null,
    isRead: entry.isRead ?? false,
    outcome,
    requestId: request.requestId,
    address: request.address,
    before: entry.before ? json(entry.before) : null,
    after: entry.after ? json(entry.after) : null,
  });
}
