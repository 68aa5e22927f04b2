import type { Principal } from '../access/principal.ts';

/**
 * The person and the owner whose use is limited. Nobody can avoid a limit with service accounts, because these count as the person who is
 * responsible for them.
 */
export interface LimitSubject {
  /** The user who answers for the caller, or the caller if nobody does. */
  readonly person: string;
  /**
   * The organization that owns what the caller uses, or else the caller's organization. Without an organization it is the team, the
   * installation or the person.
   */
  readonly owner: string;
}

type Caller = Pick<Principal, 'id' | 'responsibleUserId'>;

interface Owner {
  readonly organizationId: string | null;
  readonly teamId?: string | null;
}

/** The subject for limits, queues and budgets when a caller uses something of an owner. */
export function limitSubjectOf(caller: Caller, { organizationId, teamId }: Owner): LimitSubject {
  return { person: personOf(caller), owner: organizationId ?? teamId ?? 'installation' };
}

/** The subject for limits when a caller uses nothing of an owner. A member of several organizations always counts for the same one. */
export function limitSubjectOfCaller(caller: Caller & Pick<Principal, 'organizations'>): LimitSubject {
  const [first] = Object.keys(caller.organizations).sort();
  return { person: personOf(caller), owner: first ?? personOf(caller) };
}

/** The person for whom a caller counts. Stored authority names the same two ids. */
export function personOf({ id, responsibleUserId }: Caller): string {
  return responsibleUserId ?? id;
}

/** The two keys under which the use of a subject is counted. They are stored, so their form must not change. */
export function keysOf({ person, owner }: LimitSubject): readonly [person: string, owner: string] {
  return [`caller ${person}`, `owner ${owner}`];
}

/** The keys of a caller who uses something of an owner. */
export function holdersOf(caller: Caller, owner: Owner): readonly [person: string, owner: string] {
  return keysOf(limitSubjectOf(caller, owner));
}
