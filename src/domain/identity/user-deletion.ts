import type { Em } from '#domain/shared/database.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { refuseLastAdministrator } from './administrators.ts';
import { endCredentials } from './credentials.ts';
import { Principal } from './entity.ts';
import type { UserTarget } from './user-targets.ts';

const mostNamed = 5;

/** Something that would lose its owner, or its author, with a user, and what to do about it. */
interface Obstacle {
  /** Answers the names of those there are, one row each, as `name`; takes the user's id once. */
  readonly sql: string;
  readonly explain: (names: string) => string;
}

/** Owners that can act no more are none: a disabled user owns nothing for somebody else. */
const soleOwner = (member: string, owner: string) => `
  m.principal_id = ? and m.role = 'owner' and not exists (
    select 1 from ${member} x join principals p on p.id = x.principal_id
     where x.${owner} = m.${owner} and x.role = 'owner' and x.principal_id <> m.principal_id
       and p.enabled and p.deleted_at is null)`;

/** What has to find another owner first (specification, *Errors*, 409, condition 2). */
const possessions: readonly Obstacle[] = [
  {
    sql: `select p.name from service_accounts a join principals p on p.id = a.id and p.deleted_at is null
           where a.owner_user_id = ?`,
    explain: (names) => `owns the service accounts ${names}: transfer or delete them first`,
  },
  {
    sql: `select o.slug as name from organization_members m
            join organizations o on o.id = m.organization_id and o.deleted_at is null
           where ${soleOwner('organization_members', 'organization_id')}`,
    explain: (names) => `is the only owner of the organizations ${names}: make somebody else their owner first`,
  },
  {
    sql: `select o.slug || '/' || t.slug as name from team_members m
            join teams t on t.id = m.team_id and t.deleted_at is null join organizations o on o.id = t.organization_id
           where ${soleOwner('team_members', 'team_id')}`,
    explain: (names) => `is the only owner of the teams ${names}: make somebody else their owner first`,
  },
];

/** What names its author for as long as it is kept (specification, *Errors*, 409, condition 3). */
const authorship: readonly Obstacle[] = [
  {
    sql: `select o.slug as name from invitations i join organizations o on o.id = i.organization_id
           where ?::uuid in (i.invited_by, i.accepted_by)`,
    explain: (names) => `invited somebody, or was invited, to ${names}, which is kept: disable the user instead`,
  },
  {
    sql: `select e.slug || '/' || v.name as name from environment_variables v
            join environments e on e.id = v.environment_id
           where v.set_by = ? and v.sensitive`,
    explain: (names) => `set the secrets ${names}, which are kept with who set them: disable the user instead`,
  },
  {
    sql: `select p.name from api_keys k join principals p on p.id = k.principal_id and p.id <> k.issued_by
           where k.issued_by = ? and p.deleted_at is null`,
    explain: (names) => `issued API keys of ${names}, which are kept with who issued them: disable the user instead`,
  },
];

/**
 * Deletes a user, whose row the caller of this function holds with the lock of administrators: every credential ends, the
 * memberships go and the address is free again. Nothing is done where anything stands in the way.
 * @throws Conflict naming all that stands in the way
 */
export async function deleteUser(em: Em, user: UserTarget): Promise<void> {
  await refuseLastAdministrator(em, user);
  await lockMemberships(em, user.id);
  await refuseObstacles(em, user.id);
  await endCredentials(em, user.id);
  await em.execute(`delete from team_members where principal_id = ?`, [user.id]);
  await em.execute(`delete from organization_members where principal_id = ?`, [user.id]);
  await em.nativeUpdate(
    Principal,
    { id: user.id },
    {
      ...{ enabled: false, deletedAt: new Date() },
      ...{ eligibilityGeneration: user.eligibilityGeneration + 1, revision: user.revision + 1 },
    },
  );
}

/** Nobody else leaves, or is made less than an owner of, what the user is in, until it is decided who owns it. */
async function lockMemberships(em: Em, userId: string): Promise<void> {
  await em.execute(
    `select 1 from organizations where id in (
       select organization_id from organization_members where principal_id = ?
       union select t.organization_id from teams t join team_members m on m.team_id = t.id where m.principal_id = ?)
      order by id for no key update`,
    [userId, userId],
  );
  await em.execute(
    `select 1 from teams where id in (select team_id from team_members where principal_id = ?)
      order by id for no key update`,
    [userId],
  );
}

async function refuseObstacles(em: Em, userId: string): Promise<void> {
  const found: string[] = [];
  for (const { sql, explain } of [...possessions, ...authorship]) {
    const rows = await em.execute<{ name: string }[]>(
      `select distinct name from (${sql}) as found order by name limit ?`,
      [userId, mostNamed + 1],
    );
    if (rows.length > 0) found.push(explain(toText(rows.map(({ name }) => name))));
  }
  if (found.length > 0) throw new Conflict(`this user ${found.join('; and ')}`);
}

function toText(names: readonly string[]): string {
  const shown = names.slice(0, mostNamed).join(', ');
  return names.length > mostNamed ? `${shown} and others` : shown;
}
