import { enumerate, findNames } from '#domain/organizations/obstacles.ts';
import type { Em } from '#domain/shared/database.ts';
import { Conflict } from '#domain/shared/errors.ts';
import { refuseLastAdministrator } from './administrators.ts';
import { endCredentials } from './credentials.ts';
import { Principal } from './entity.ts';
import type { UserTarget } from './user-targets.ts';

/** Something that would lose its owner, or its author, with a user. */
interface Obstacle {
  /** Selects what each is called, as `name`, and `x.id` to order by; takes the user's id once. */
  readonly select: string;
  /** How the message goes on, from "this user …" to the names; and what would be right. */
  readonly does: string;
  readonly remedy: string;
}

/** Whoever can act no more owns nothing in somebody's place: a disabled user does not count. */
const isSoleOwner = (table: string, owner: string) => `
  m.principal_id = ? and m.role = 'owner' and not exists (
    select 1 from ${table} other join principals p on p.id = other.principal_id
     where other.${owner} = m.${owner} and other.role = 'owner' and other.principal_id <> m.principal_id
       and p.kind = 'user' and p.enabled and p.deleted_at is null)`;

/** What has to find another owner first (specification, *Errors*, 409, condition 2). */
const possessions: readonly Obstacle[] = [
  {
    select: `select '"' || p.name || '"' as name, x.id from service_accounts x
               join principals p on p.id = x.id and p.deleted_at is null where x.owner_user_id = ?`,
    does: 'owns service accounts',
    remedy: 'transfer or delete them first',
  },
  {
    select: `select x.slug as name, x.id from organizations x join organization_members m on m.organization_id = x.id
              where x.deleted_at is null and ${isSoleOwner('organization_members', 'organization_id')}`,
    does: 'is the only owner of organizations',
    remedy: 'make somebody else their owner first',
  },
  {
    select: `select o.slug || '/' || x.slug as name, x.id from teams x join organizations o on o.id = x.organization_id
               join team_members m on m.team_id = x.id
              where x.deleted_at is null and ${isSoleOwner('team_members', 'team_id')}`,
    does: 'is the only owner of teams',
    remedy: 'make somebody else their owner first',
  },
];

const disableInstead = 'which history keeps: disable the user instead';

/** What names its author for as long as it is kept (specification, *Errors*, 409, condition 3). */
const authorship: readonly Obstacle[] = [
  {
    select: `select x.slug || '/' || v.name as name, x.id from environment_variables v
               join environments x on x.id = v.environment_id where v.set_by = ? and v.sensitive`,
    does: 'has set secrets',
    remedy: disableInstead,
  },
  {
    select: `select '"' || x.name || '"' as name, x.id from principals x where x.deleted_at is null and exists (
               select 1 from api_keys k where k.issued_by = ? and k.principal_id = x.id and k.issued_by <> x.id)`,
    does: 'has issued API keys of others',
    remedy: disableInstead,
  },
  {
    select: `select x.slug as name, x.id from organizations x where exists (
               select 1 from invitations i where ?::uuid in (i.invited_by, i.accepted_by) and i.organization_id = x.id)`,
    does: 'has sent or accepted invitations to',
    remedy: disableInstead,
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

/** Everything that is in the way is said at once. */
async function refuseObstacles(em: Em, userId: string): Promise<void> {
  const found = await Promise.all(
    [...possessions, ...authorship].map(async ({ select, does, remedy }) => {
      const names = await findNames(em, select, [userId]);
      return names.length > 0 ? [`${does}: ${enumerate(names)}; ${remedy}`] : [];
    }),
  );
  const reasons = found.flat();
  if (reasons.length > 0) throw new Conflict(`this user ${reasons.join('; and ')}`);
}
