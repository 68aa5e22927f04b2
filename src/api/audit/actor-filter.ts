import type { Em } from '#database/database.ts';
import { findPrincipalsCalled } from '#domain/audit/actor-store.ts';
import type { AuditFilter } from '#domain/audit/model.ts';
import { hasRecordBy } from '#domain/audit/records.ts';
import { findKnownPeople, findPeople } from '#domain/members/people-store.ts';
import { anonymous, type Principal } from '#domain/shared/access/principal.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import { systemActions } from '#domain/system-actions.ts';

/** The parts of the service that act, under the names that records have for them. */
const systemActors: ReadonlySet<string> = new Set([
  anonymous.name,
  ...Object.values(systemActions).map(({ actor }) => actor),
]);

/**
 * A filter with the id of the actor in place of a typed name. A name is that of a principal whom the reader knows, or of whom the reader may see a record:
 * whoever acted in an organization is found by those who read its audit, member or not. For all other principals the answer is as if they did not exist.
 * @throws Invalid for a text that names nobody, or several
 */
export async function resolveActor<Filter extends Pick<AuditFilter, 'actor'>>(
  em: Em,
  reader: Principal,
  filter: Filter,
  retentionDays: number | null,
): Promise<Filter> {
  const { actor } = filter;
  if (actor === undefined || isId(actor)) return filter;
  const [called, ...others] = await findCalled(em, reader, actor, retentionDays);
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

async function findCalled(em: Em, reader: Principal, text: string, retentionDays: number | null): Promise<string[]> {
  const called = await findPrincipalsCalled(em, text);
  if (called.length === 0) return [];
  const known = new Set((await findKnownPeople(em, reader, called)).map(({ id }) => id));
  const found: string[] = [];
  for (const id of called) if (known.has(id) || (await hasRecordBy(em, reader, id, retentionDays))) found.push(id);
  return found;
}

function refuse(problem: string): Invalid {
  const message = `query parameter "actor": ${problem}`;
  return new Invalid(message, { errors: [{ in: 'query', path: 'actor', message }] });
}
