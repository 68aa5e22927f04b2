import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { resolveNames } from '#api/web/forms/named-choices.ts';
import { pagePath, pages, type Query } from '#api/web/paths.ts';
import { scopeQuery } from '#api/web/visit/scope.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { RunStatus } from '#domain/shared/vocabulary/runs.ts';

/** The filters of the list that hold one value. They have the names of the operation's query. */
export const singleFilters = [
  'operation',
  'environment_id',
  'template_id',
  'instance_id',
  'requested_by',
  'waiting_on',
  'from',
  'to',
] as const;
type SingleFilter = (typeof singleFilters)[number];

/** What the address of the list selects: which runs, and where the page begins. */
export interface ListAddress {
  /** The organization or team, as a query. */
  readonly scope: Query;
  readonly statuses: readonly string[];
  readonly filters: Readonly<Partial<Record<SingleFilter, string>>>;
  readonly cursor: string | undefined;
  /**
   * Selects only runs from before this time. The address of an update contains it, so that new runs do not move the rows that somebody
   * reads.
   */
  readonly until: string | undefined;
}

export function readListAddress(visit: Visit): ListAddress {
  const filters = Object.fromEntries(
    singleFilters.flatMap((name) => {
      const value = visit.query(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return {
    scope: scopeQuery(visit.scope),
    statuses: visit.queryAll('status'),
    filters,
    cursor: visit.query('cursor'),
    until: visit.query('until'),
  };
}

/** The filters whose fields may offer only some of their choices. */
export const cutFilters = [
  { name: 'environment_id', label: 'Environment', kind: 'select', isCut: true, choiceKinds: ['environment'] },
  { name: 'template_id', label: 'Template', kind: 'select', isCut: true, choiceKinds: ['template'] },
] as const satisfies readonly FormField[];

/** Replaces names in the address by ids. The visit has a problem if a name matches nothing, or several things. */
export async function withIds(visit: Visit, address: ListAddress): Promise<ListAddress> {
  return { ...address, filters: await resolveNames(visit, cutFilters, address.filters) };
}

/** The query of the operation that lists the runs. Without a scope, it lists all that the visitor may read. */
export function toListQuery({ scope, statuses, filters, cursor, until }: ListAddress): Query {
  return {
    ...scope,
    ...filters,
    scope: 'readable',
    status: statuses.length > 0 ? statuses : undefined,
    cursor,
    to: until ?? filters.to,
  };
}

/** The list's own address with some of it changed. A change leads to the first page unless it names another one. */
export function listPath(
  { scope, statuses, filters }: ListAddress,
  changes: { statuses?: readonly string[]; filters?: ListAddress['filters']; cursor?: string; until?: string } = {},
) {
  const { cursor, until } = changes;
  return pagePath(
    pages.runs,
    {},
    { ...scope, status: changes.statuses ?? statuses, ...(changes.filters ?? filters), cursor, until },
  );
}

/** The sets of statuses that people look for most. */
export const views: readonly { readonly label: string; readonly statuses: readonly RunStatus[] }[] = [
  { label: 'All', statuses: [] },
  { label: 'Needs attention', statuses: ['pending_approval', 'failed', 'timed_out'] },
  { label: 'Running', statuses: ['running', 'canceling'] },
  { label: 'Waiting', statuses: ['queued', 'pending_approval'] },
  { label: 'Failed', statuses: ['failed', 'timed_out'] },
];

/** Whether two sets of statuses are the same. */
export function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return new Set(one).size === new Set(other).size && one.every((each) => other.includes(each));
}
