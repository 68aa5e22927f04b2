import { type Expression, type SqlBool, sql } from 'kysely';
import { db, type Over } from '#domain/db.ts';
import { isReadableResource } from '#domain/instances/resources/resource-list-store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isId } from '#domain/shared/ids.ts';
import type { Finder } from './finder.ts';
import { containsText, hasWords, maxWithWords } from './word-match-store.ts';

/** Resources of instances by their id or the words of their address, those of the latest deployments first. */
export const findResources: Finder = (em, principal, text, max) => {
  // The limit keeps PostgreSQL from scanning all resources in the order of the result.
  const wanted = db(em)
    .selectFrom('instance_resources as r')
    .innerJoin('instances as i', 'i.id', 'r.instanceId')
    .leftJoin('environments as e', 'e.id', 'i.environmentId')
    .where((eb) => isWanted(eb, principal, text))
    .where((eb) => isReadableResource(eb, principal))
    .select(['r.id', 'r.address as name', 'i.id as parentId'])
    .select((eb) => sql<string>`concat_ws(' · ', ${eb.ref('i.name')}, ${eb.ref('e.name')})`.as('context'))
    .limit(maxWithWords);
  return db(em)
    .selectFrom(wanted.as('w'))
    .where((eb) => (isId(text.toLowerCase()) ? eb.lit(true) : containsText(eb.ref('w.name'), text)))
    .select(['w.id', 'w.name', 'w.parentId', 'w.context'])
    .orderBy('w.id', 'desc')
    .limit(max)
    .execute();
};

function isWanted(eb: Over<{ r: 'instance_resources' }>, principal: Principal, text: string): Expression<SqlBool> {
  if (isId(text.toLowerCase())) return eb('r.id', '=', text);
  return hasWords(principal, { text: eb.ref('r.address'), team: eb.ref('r.teamId') }, text);
}
