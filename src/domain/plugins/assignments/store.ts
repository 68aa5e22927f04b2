import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db, type Over } from '#domain/db.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isId } from '#domain/shared/ids.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import { isCounted, type Share } from '../limit-store.ts';
import { type SelectorType, selectorOf } from '../model.ts';
import { findLockedPlace, type Place } from '../places/place-store.ts';
import { isReadableScope } from '../places/scope-store.ts';
import {
  type GrantWithStanding,
  isInForce,
  type ShownGrant,
  selectGrants,
  selectShownGrants,
} from './grant-authority-store.ts';

export interface CoverageQuestion {
  /** An action, or all actions of an installation. */
  readonly of: { readonly actionId: string } | { readonly installationId: string };
  readonly subjectId: string;
  readonly place: Place;
}

/**
 * Among the unrevoked assignments to a principal for a place or a place around it, the newest one for each action and place, newest first.
 * Older ones do not matter: an action is assigned again only after the earlier assignment has ended permanently.
 */
export function findCovering(em: Em, question: CoverageQuestion): Promise<GrantWithStanding[]> {
  const newest = db(em)
    .selectFrom('plugin_action_grants as g')
    .distinctOn(['g.actionId', 'g.selectorType', 'g.selectorId'])
    .where((eb) => names(eb, question))
    .where('g.revokedAt', 'is', null)
    .orderBy('g.actionId')
    .orderBy('g.selectorType')
    .orderBy('g.selectorId')
    .orderBy('g.id', 'desc')
    .select('g.id');
  return selectGrants(em).where('g.id', 'in', newest).orderBy('g.id', 'desc').execute();
}

/** The newest assignment to a principal that names a place or a place around it, and was revoked. */
export function findNewestRevoked(em: Em, question: CoverageQuestion): Promise<GrantWithStanding | undefined> {
  return selectGrants(em)
    .where((eb) => names(eb, question))
    .where('g.revokedAt', 'is not', null)
    .orderBy('g.id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Whether an assignment names the principal of a question, and its place or one around it. */
function names(eb: Over<{ g: 'plugin_action_grants' }>, { of, subjectId, place }: CoverageQuestion) {
  const { resourceId, environmentId, projectId, teamId, organizationId } = place;
  const around = [resourceId, environmentId, projectId, teamId, organizationId].flatMap((id) => id ?? []);
  return eb.and([
    'actionId' in of ? eb('g.actionId', '=', of.actionId) : eb('g.installationId', '=', of.installationId),
    eb('g.subjectId', '=', subjectId),
    eb('g.selectorId', '=', eb.fn.any(eb.val(around))),
  ]);
}

/** An assignment with its place. A lock locks the owners of the place, then the assignment. */
export async function findGrantWithPlace(
  em: Em,
  id: string,
  lock = false,
): Promise<(Place & { readonly grant: ShownGrant }) | undefined> {
  const known = await findGrant(em, id);
  const place = known && (await findLockedPlace(em, selectorOf(known), lock));
  if (lock && place)
    await db(em).selectFrom('plugin_action_grants').where('id', '=', id).select('id').forNoKeyUpdate().execute();
  const grant = lock ? await findGrant(em, id) : known;
  return place && grant && { ...place, grant };
}

export function findGrant(em: Em, id: string): Promise<ShownGrant | undefined> {
  return selectShownGrants(em).where('g.id', '=', id).executeTakeFirst();
}

/** Permanently removes ended assignments from the count of a share. The caller has locked the share. */
export async function uncountEndedGrants(em: Em, { installationId, ownerId }: Share): Promise<void> {
  const ended = selectGrants(em)
    .clearSelect()
    .where('g.installationId', '=', installationId)
    .where('g.ownerId', '=', ownerId)
    .where(isCounted('g'))
    .where(sql<SqlBool>`not ${isInForce}`)
    .select('g.id');
  await db(em).updateTable('plugin_action_grants').set({ counted: false }).where('id', 'in', ended).execute();
}

export interface GrantFilter {
  readonly installationId?: string | undefined;
  readonly actionId?: string | undefined;
  readonly subjectId?: string | undefined;
  /** The id of the subject, or a text in its name, ignoring case. */
  readonly subject?: string | undefined;
  readonly selectorType?: SelectorType | undefined;
  /** The id of the place, or a text in its name, ignoring case. */
  readonly selector?: string | undefined;
  readonly isInForce?: boolean | undefined;
}

/** An assignment for a reader who may only be its subject. Then only the id of its place is shown. */
export interface GrantForReader extends ShownGrant {
  readonly isPlaceReadable: boolean;
}

/** The assignments in organizations and teams that a principal may read, and its own. */
export function listGrants(
  em: Em,
  principal: Principal,
  filter: PageRequest & GrantFilter,
): Promise<Page<GrantForReader>> {
  const isReadable = isReadableScope(principal);
  const listed = selectShownGrants(em)
    .select(sql<boolean>`${isReadable}`.as('isPlaceReadable'))
    .where((eb) => eb.or([isReadable, eb('g.subjectId', '=', principal.id)]))
    .where((eb) => eb.and(conditionsOf(filter, isReadable)));
  return pageOf(listed, 'g.id', filter);
}

function conditionsOf(filter: GrantFilter, isPlaceReadable: Expression<SqlBool>): RawBuilder<SqlBool>[] {
  const { installationId, actionId, subjectId, subject, selectorType, selector, isInForce: wanted } = filter;
  // Without this, somebody who may not read a place could find out its name letter by letter.
  const placeName = sql<string | null>`case when ${isPlaceReadable} then scope.name end`;
  const conditions = [
    installationId !== undefined && sql<SqlBool>`g.installation_id = ${installationId}`,
    actionId !== undefined && sql<SqlBool>`g.action_id = ${actionId}`,
    subjectId !== undefined && sql<SqlBool>`g.subject_id = ${subjectId}`,
    subject !== undefined && isCalled({ id: sql`g.subject_id`, name: sql`s.name` }, subject),
    selectorType !== undefined && sql<SqlBool>`g.selector_type = ${selectorType}`,
    selector !== undefined && isCalled({ id: sql`g.selector_id`, name: placeName }, selector),
    wanted !== undefined && (wanted ? isInForce : sql<SqlBool>`not ${isInForce}`),
  ];
  return conditions.filter((each) => each !== false);
}

function isCalled({ id, name }: { id: RawBuilder<unknown>; name: RawBuilder<unknown> }, text: string) {
  const wanted = text.toLowerCase();
  return isId(wanted) ? sql<SqlBool>`${id} = ${wanted}::uuid` : sql<SqlBool>`position(${wanted} in lower(${name})) > 0`;
}
