import type { Em } from '#database/database.ts';
import { findActorsCalled } from '#domain/audit/actor-store.ts';
import type { AuditFilter } from '#domain/audit/model.ts';
import { hasRecordBy } from '#domain/audit/records.ts';
import { findPeople } from '#domain/members/people-store.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import { systemActions } from '#domain/system-actions.ts';

/** The names under which records have the parts of the service that act by themselves. */
const systemActors: ReadonlySet<string> = new Set([
  anonymous.name,
  ...Object.values(systemActions).map(({ actor }) => actor),
]);

/**
 * Replaces the name of an actor in a filter by the actor's id. Readers can find principals that they know, and principals whose records
 * they may see: somebody who may read the audit of an organization finds everybody who acted in it, members or not. All other principals
 * are treated as if they did not exist.
 * @throws Invalid for a text that names no principal, or more than one
 */
export async function resolveActor<Filter extends Pick<AuditFilter, 'actor'>>(
  em: Em,
  reader: Principal,
  filter: Filter,
  retentionDays: number | null,
): Promise<Filter> {
  const { actor } = filter;
  if (actor === undefined || isId(actor)) return filter;
  const [called, ...others] = await findActorsCalled(em, reader, actor, retentionDays);
  if (called !== undefined && others.length > 0)
    throw refuse(`"${actor}" names several: use one of the ids ${[called, ...others].join(', ')}`);
  if (called !== undefined) return { ...filter, actor: called };
  if (systemActors.has(actor.toLowerCase())) return { ...filter, actor: actor.toLowerCase() };
  const { people } = await findPeople(em, reader, { text: actor, withManaged: true });
  const [only, ...more] = people;
  if (only && more.length === 0) return { ...filter, actor: only.id };
  // Earlier releases recorded parts of the service under other names.
  if (await hasRecordBy(em, reader, actor, retentionDays)) return filter;
  throw refuse(`"${actor}" names nobody whose records you can see: use a whole name, an e-mail address or an id`);
}

function refuse(problem: string): Invalid {
  const message = `query parameter "actor": ${problem}`;
  return new Invalid(message, { errors: [{ in: 'query', path: 'actor', message }] });
}
