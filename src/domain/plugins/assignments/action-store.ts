import { type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import type { RowOf } from '#database/tables.ts';
import { db } from '#domain/db.ts';
import { isOfReadableOwner } from '#domain/owners/rows-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import { isCurrentCeiling } from '../ceilings/store.ts';
import { hasOwner } from '../installations/store.ts';
import type { Selector, SelectorType } from '../model.ts';

/** An action as its readers see it. */
export type ActionDetails = RowOf<typeof selectActions>;

/** Why an action cannot be assigned at a place of this type; null if it can be. */
export function findSelectorRefusal({ name, selectors }: ActionDetails, { type }: Selector): string | null {
  return selectors.includes(type) ? null : `the action ${name} takes ${selectors.join(', ')}`;
}

/** An action by its id; with `lock`, nobody else can assign it until the commit. */
export function findAction(em: Em, id: string, lock = false): Promise<ActionDetails | undefined> {
  const found = selectActions(em).where('a.id', '=', id);
  return (lock ? found.forNoKeyUpdate('a') : found).executeTakeFirst();
}

/** An action of an installation by its name. */
export function findActionByName(em: Em, installationId: string, name: string): Promise<ActionDetails | undefined> {
  return selectActions(em).where('a.installationId', '=', installationId).where('a.name', '=', name).executeTakeFirst();
}

export interface ActionFilter {
  /** Only those that the active release declares. */
  readonly isDeclared?: boolean | undefined;
  /** Only those that may be assigned for such a selector. */
  readonly selectorType?: SelectorType | undefined;
}

/** The actions of an installation. They include those that the active release no longer declares, unless the filter excludes them. */
export function listActionsOf(
  em: Em,
  installationId: string,
  { isDeclared, selectorType, ...request }: PageRequest & ActionFilter,
): Promise<Page<ActionDetails>> {
  let listed = selectActions(em).where('a.installationId', '=', installationId);
  if (isDeclared !== undefined) listed = listed.where(declared, '=', isDeclared);
  if (selectorType !== undefined) listed = listed.where(sql<SqlBool>`jsonb_exists(a.selectors, ${selectorType})`);
  return pageOf(listed, 'a.id', request);
}

/** The actions of all plugins that a principal may read, except removed plugins. */
export function listReadableActions(em: Em, principal: Principal, request: PageRequest): Promise<Page<ActionDetails>> {
  const listed = selectActions(em)
    .where('i.deletedAt', 'is', null)
    .where(hasOwner)
    .where((eb) => {
      const owner = { organization: eb.ref('i.organizationId'), team: eb.ref('i.teamId'), project: sql<null>`null` };
      return isOfReadableOwner(principal, owner, 'administrators');
    });
  return pageOf(listed, 'a.id', request);
}

const declared = sql<boolean>`(a.is_declared and i.deleted_at is null)`;

const isApproved = sql<boolean>`${declared} and exists (
  select from jsonb_array_elements(c.actions) x where x ->> 'name' = a.name)`;

function selectActions(em: Em) {
  return db(em)
    .selectFrom('plugin_actions as a')
    .innerJoin('plugin_installations as i', 'i.id', 'a.installationId')
    .leftJoin('plugin_ceilings as c', (join) => join.on(isCurrentCeiling))
    .select(['a.id', 'a.installationId', 'a.name', 'a.selectors', 'a.effects'])
    .select([declared.as('isDeclared'), 'a.revision', isApproved.as('isApproved')]);
}
