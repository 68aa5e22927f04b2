import { type Insertable, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { type Compilable, type ParameterOf, runTogether } from '#database/queries.ts';
import { json } from '#database/tables.ts';
import { prepareChange } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import type { Ownership } from './access/decide.ts';
import type { Principal } from './access/principal.ts';
import { asInApi } from './api-names.ts';
import { newId } from './ids.ts';

/** What the audit records about a request. */
export interface RequestFacts {
  readonly requestId: string | null;
  readonly address: string | null;
}

/** An action of the audit's catalogue, and the type of the resources that it is done to. */
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
  /** The owners that the resource had before a transfer. They find a record of it as the new owners do. */
  readonly formerOwners?: Pick<Ownership, 'organizationId' | 'teamId'>;
  /** The changed fields, before and after the change. They must not contain secrets. */
  readonly before?: object | null;
  readonly after?: object | null;
  /** The revision of the resource after the command. */
  readonly revision?: number | null;
  /** What the command changed in the same way beside it; each has a record of its own. */
  readonly others?: readonly Pick<CommandChange, 'id' | 'owners' | 'before' | 'after'>[];
  /** Who did it, if only the command's own work finds that out, as signing in does. */
  readonly actor?: Principal;
}

/** The owners that a resource had before a transfer, and the record of the transfer that they find. */
export interface FormerOwner extends Pick<Ownership, 'organizationId' | 'teamId'> {
  readonly recordId: string;
}

/** What an audit record says was done, to which resource. */
export interface AuditEntry {
  readonly action: string;
  readonly resource: { readonly type: string; readonly id: string | null };
  /** Whether the action changes nothing. */
  readonly isRead?: boolean;
  readonly organizationId?: string | null;
  readonly teamId?: string | null;
  readonly before?: Record<string, unknown> | null;
  readonly after?: Record<string, unknown> | null;
  /** After a transfer: the entry's event is for them as well. */
  readonly former?: FormerOwner;
  /** The entry repeats another one for former owners: its record has this id, and the event of the other one is its event as well. */
  readonly repeatedAs?: string;
}

/** The audit entries of a change, and of what the command changed beside it. */
export function entriesOf(
  action: AuditedAction,
  change: CommandChange,
  target: Ownership | null | undefined,
): [AuditEntry, ...AuditEntry[]] {
  const others = (change.others ?? []).flatMap((other) => entriesOfOne(action, other, target));
  return [...entriesOfOne(action, change, target), ...others];
}

/**
 * One entry with the owners of the resource, and after a transfer another one with its former owners. A resource that now belongs to no team
 * or organization has one entry, with its former owners.
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

/** Whether an organization or a team would miss a change that is recorded only with the owners of an entry. */
function isElsewhere({ organizationId, teamId }: Pick<Ownership, 'organizationId' | 'teamId'>, entry: AuditEntry) {
  const misses = (own: string | null, recorded: string | null | undefined) => own !== null && own !== recorded;
  return misses(organizationId, entry.organizationId) || misses(teamId, entry.teamId);
}

/** Writes the record of something that was done outside a command. */
export async function recordAudit(
  em: Em,
  actor: Principal,
  entry: AuditEntry,
  request: RequestFacts,
  outcome: 'committed' | 'refused' = 'committed',
): Promise<void> {
  await runTogether(em, [], insertAuditRecord(newId(), actor, entry, request, outcome));
}

/** The columns of a record but its time, in the order in which the statement names them. */
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

/** The statement that writes an audit record. A command sends it in its own transaction: no record, no command. */
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
