import { expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { emailKey } from '#domain/identity/model.ts';
import { managesUsers } from '#domain/shared/access/account-succession.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { isInReadableTeam } from '#domain/shared/access/readable-teams-store.ts';
import { isId } from '#domain/shared/ids.ts';
import { hasText, type NameMatch } from '#domain/shared/naming/name-match.ts';
import type { PrincipalKind } from '#domain/shared/vocabulary/roles.ts';
import { isReadableScope, scopeOf } from '../places/scope-store.ts';

/** A subject that a question about an action can name. */
export interface KnownSubject {
  readonly id: string;
  readonly kind: PrincipalKind;
  readonly name: string;
  readonly enabled: boolean;
}

/** A search for subjects by a text. */
export interface WantedSubject {
  readonly installationId: string;
  readonly text: string;
  readonly match: NameMatch;
  readonly max: number;
}

/**
 * The subjects that a text names by their id, a part of their name, or their full e-mail address, ignoring case, and that the reader may
 * know. These are the reader itself, people who share an organization with it, service accounts that it may read, and the background
 * principals of an installation at places that it may read. At most `max` are returned.
 */
export function findKnownSubjects(
  em: Em,
  reader: Principal,
  { installationId, text, match, max }: WantedSubject,
): Promise<KnownSubject[]> {
  const wanted = text.toLowerCase();
  return db(em)
    .selectFrom('principals as p')
    .leftJoin('users as u', 'u.id', 'p.id')
    .leftJoin('service_accounts as n', 'n.id', 'p.id')
    .leftJoin('plugin_background_principals as b', 'b.id', 'p.id')
    .leftJoinLateral(scopeOf(sql`b.selector_type`, sql`b.selector_id`), (join) => join.onTrue())
    .where((eb) =>
      isId(wanted)
        ? eb('p.id', '=', wanted)
        : eb.and([
            eb('p.deletedAt', 'is', null),
            eb.or([hasText(eb.ref('p.name'), wanted, match), eb('u.emailKey', '=', emailKey(text))]),
          ]),
    )
    .where((eb) =>
      eb.or([
        isKnownPerson(reader),
        isReadableAccount(reader),
        eb.and([eb('b.installationId', '=', installationId), isReadableScope(reader)]),
      ]),
    )
    .select(['p.id', 'p.kind', 'p.name', sql<SqlBool>`p.enabled and p.deleted_at is null`.as('enabled')])
    .$castTo<KnownSubject>()
    .orderBy('p.name')
    .orderBy('p.id')
    .limit(max)
    .execute();
}

/** The condition for people: the reader itself, and users who share an organization with it; all users for readers who manage users. */
function isKnownPerson(reader: Principal) {
  const eb = expressionBuilder<Subjects, 'p'>();
  const isAcquainted = eb.exists(
    eb
      .selectFrom('organization_members as om')
      .whereRef('om.principalId', '=', 'p.id')
      .where('om.organizationId', '=', eb.fn.any(eb.val(Object.keys(reader.organizations))))
      .select('om.id'),
  );
  const isKnown = managesUsers(reader) ? eb.lit(true) : isAcquainted;
  return eb.or([eb('p.id', '=', reader.id), eb.and([eb('p.kind', '=', 'user'), isKnown])]);
}

/** The condition for service accounts: the reader's own, and those of teams that it may read. */
function isReadableAccount(reader: Principal) {
  const eb = expressionBuilder<Subjects, 'n'>();
  const isOfTeam = isInReadableTeam(reader, eb.ref('n.ownerTeamId'), 'hidden');
  return eb.or([eb('n.ownerUserId', '=', reader.id), eb.and([eb('n.ownerTeamId', 'is not', null), isOfTeam])]);
}

type Subjects = Tables & { p: Tables['principals']; n: Tables['service_accounts'] };
