import { type Expression, expressionBuilder, type SqlBool, sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { Tables } from '#domain/entities.ts';
import { isOfReadableOwner } from '#domain/owners/rows-store.ts';
import { decide, decidePermission, installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { ownerOfKind } from '#domain/shared/ownership-graph/any-owner.ts';
import { type SubjectKind, subjectKinds } from './model.ts';
import { kindsOfSubjects, type Path } from './subject-kinds.ts';

/** What a notification is about. */
export interface Subject {
  readonly kind: SubjectKind;
  readonly id: string;
}

/** Whether a user may read a subject with these owners. For keys, it does not check who holds them. */
export function mayReadSubject(user: Principal, { kind }: Subject, owner: Ownership): boolean {
  return user.kind === 'user' && decide(user, kindsOfSubjects[kind].access, owner).allowed;
}

/** The page of the subject of a message or a notification. */
export function subjectPath(kind: SubjectKind, id: string): Path {
  return kindsOfSubjects[kind].path(id);
}

/** The name of a subject, such as "Webhook Chat"; null if it no longer exists. The caller has decided that it may be read. */
export async function findSubjectName(em: Em, { kind, id }: Subject): Promise<string | null> {
  return (await kindsOfSubjects[kind].findName(em, id)) ?? null;
}

/** The present owners of a subject. */
export async function findSubjectOwner(em: Em, { kind, id }: Subject): Promise<Ownership> {
  const key = sql<string>`${id}::uuid`;
  const owner = await db(em)
    .selectNoFrom([
      sql<string | null>`${ownerOfKind('organization', kind, key)}`.as('organizationId'),
      sql<string | null>`${ownerOfKind('team', kind, key)}`.as('teamId'),
    ])
    .executeTakeFirst();
  return owner ?? installationOwnership;
}

/** The columns of a row that name a subject. */
export interface SubjectRefs {
  readonly kind: Expression<string | null>;
  readonly id: Expression<string | null>;
}

/** The condition that a user may still read the subject that a row names: `mayReadSubject` in SQL. */
export function isReadableSubject(subject: SubjectRefs, user: Principal): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  const permitted = subjectKinds.filter((kind) => decidePermission(user, kindsOfSubjects[kind].access).allowed);
  return eb.or(permitted.map((kind) => eb.and([eb(subject.kind, '=', kind), isReadableAs(subject.id, user, kind)])));
}

function isReadableAs(id: Expression<string | null>, user: Principal, kind: SubjectKind): Expression<SqlBool> {
  if (kind === 'quota') return expressionBuilder<Tables>().lit(true);
  if (kind === 'api_key') return holdsKey(id, user);
  const key = sql<string>`${id}`;
  const team = ownerOfKind('team', kind, key);
  const owner = {
    team,
    // Subjects of a team have no organization here, because not everybody in the organization may read them.
    organization: sql<string | null>`case when ${team} is null then ${ownerOfKind('organization', kind, key)} end`,
    project: sql<string | null>`null`,
  };
  const rule = kindsOfSubjects[kind].access.installation === undefined ? 'visible' : 'administrators';
  return isOfReadableOwner(user, owner, rule);
}

/**
 * The condition that a key is the user's own, or that of a service account which the user, or a team of which the user is an owner, owns.
 */
function holdsKey(id: Expression<string | null>, user: Principal): Expression<SqlBool> {
  const eb = expressionBuilder<Tables>();
  const owned = Object.keys(user.teams).filter((id) => user.teams[id] === 'owner');
  return eb.exists(
    eb
      .selectFrom('api_keys as k')
      .leftJoin('service_accounts as a', 'a.id', 'k.principalId')
      .where('k.id', '=', sql<string>`${id}`)
      .where('k.revokedAt', 'is', null)
      .where((of) =>
        of.or([
          of('k.principalId', '=', user.id),
          of('a.ownerUserId', '=', user.id),
          of('a.ownerTeamId', '=', of.fn.any(of.val(owned))),
        ]),
      )
      .select('k.id'),
  );
}
