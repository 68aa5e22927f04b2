import { type Expression, type SqlBool, sql } from 'kysely';
import type { Over } from '#domain/db.ts';
import { anonymous } from '#domain/shared/access/principal.ts';
import { isId } from '#domain/shared/ids.ts';
import type { AuditFilter } from './model.ts';
import type { AuditParts } from './scope.ts';

/** The position of a record in the order of time and id. */
export interface Position {
  readonly at: string;
  readonly id: string;
}

type RecordTable = Over<{ r: 'audit_records' }>;
type Condition = Expression<SqlBool>;

/** The filters by a column's exact value. */
const columnFilters = [
  ['action', 'action'],
  ['resource_type', 'resourceType'],
  ['resource_id', 'resourceId'],
  ['organization_id', 'organizationId'],
  ['team_id', 'teamId'],
  ['request_id', 'requestId'],
] as const;

/** The conditions of a filter. `isNarrowed` says that another condition narrows the list already. */
export function matches(
  eb: RecordTable,
  filter: AuditFilter,
  retentionDays: number | null,
  isNarrowed: boolean,
): Condition[] {
  const { actor, outcome, from, to } = filter;
  const conditions: Condition[] = [isInRetention(eb, retentionDays)];
  for (const [name, column] of columnFilters) {
    const value = filter[name];
    if (value !== undefined) conditions.push(eb(column, '=', value));
  }
  if (from !== undefined) conditions.push(eb('at', '>=', new Date(from).toISOString()));
  if (to !== undefined) conditions.push(eb('at', '<', new Date(to).toISOString()));
  if (actor !== undefined) conditions.push(...isActor(eb, actor));
  const { plugin_installation_id: plugin } = filter;
  if (plugin !== undefined) conditions.push(isOfPlugin(eb, plugin));
  const isNarrow =
    isNarrowed ||
    actor !== undefined ||
    plugin !== undefined ||
    columnFilters.some(([name]) => filter[name] !== undefined);
  if (outcome === 'refused') conditions.push(sql<SqlBool>`${eb.ref('outcome')} = 'refused'`);
  if (outcome === 'committed') conditions.push(sql<SqlBool>`${eb.ref('outcome')} <> 'refused'`);
  conditions.push(...isOfKind(eb, filter));
  if (outcome !== 'refused' && filter.kind !== 'change' && !isNarrow) conditions.push(isAnyOutcome(eb));
  return conditions;
}

function isOfKind(eb: RecordTable, { kind, readActions = [] }: AuditFilter): Condition[] {
  if (kind === undefined) return [];
  const isOfReadAction = eb('action', '=', eb.fn.any(eb.val(readActions)));
  if (kind === 'read') return [isOfReadAction];
  // The action decides. The column only lets PostgreSQL use indexes with hardly any reads: during an upgrade, a process of an earlier
  // release does not set the column.
  return [sql<SqlBool>`not ${eb.ref('isRead')}`, eb.not(isOfReadAction)];
}

/**
 * Always true. Matches the condition of the partial index by time, so that PostgreSQL can use that index. Omitted if filters
 * narrow the list: PostgreSQL would otherwise read the whole index to find the few records that match two filters.
 */
function isAnyOutcome(eb: RecordTable): Condition {
  return sql<SqlBool>`${eb.ref('outcome')} in ('committed', 'refused')`;
}

/** Whether a record is about an installed plugin or something that belongs to it. The index by the target finds the records of each. */
function isOfPlugin(eb: RecordTable, id: string): Condition {
  return sql<SqlBool>`${eb.ref('resourceId')} in (
    select ${id}
    union all select id::text from plugin_action_grants where installation_id = ${id}::uuid
    union all select id::text from plugin_background_principals where installation_id = ${id}::uuid
    union all select id::text from plugin_resources where installation_id = ${id}::uuid)`;
}

export function isInRetention(eb: RecordTable, retentionDays: number | null): Condition {
  return retentionDays === null
    ? eb.lit(true)
    : eb('at', '>=', sql<string>`now() - make_interval(days => ${retentionDays})`);
}

/**
 * Whether a record shows its target to a reader of this scope, as `showTo` decides. A filter by the target finds only such records: others
 * would reveal that the target of a refusal exists.
 */
export function showsTarget(eb: RecordTable, { organizations, teams }: AuditParts): Condition {
  const isAmong = (column: 'organizationId' | 'teamId', ids: readonly string[]) =>
    sql<SqlBool>`${eb.ref(column)} = any(${ids}::uuid[])`;
  return eb.or([
    sql<SqlBool>`${eb.ref('outcome')} <> 'refused'`,
    isAmong('organizationId', organizations),
    isAmong('teamId', teams),
  ]);
}

function isActor(eb: RecordTable, actor: string): Condition[] {
  if (isId(actor)) return [eb('actorId', '=', actor)];
  return [eb('actorId', '=', anonymous.id), eb('actorName', '=', actor)];
}

/** The comparison of time alone lets PostgreSQL skip partitions. */
export function liesBeyond(eb: RecordTable, { at, id }: Position, direction: 'older' | 'newer'): Condition[] {
  const row = eb.refTuple('at', 'id');
  return direction === 'older'
    ? [eb('at', '<=', at), eb(row, '<', eb.tuple(at, id))]
    : [eb('at', '>=', at), eb(row, '>', eb.tuple(at, id))];
}
