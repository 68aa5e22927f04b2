import type { Em } from '#database/database.ts';
import { Conflict } from '#domain/shared/errors.ts';
import type { PlatformRole } from '../model.ts';

/** Held while the first administrator is made, and by whatever may take the last one away. */
export const administratorsLock = 'administrators';

/**
 * Refuses a change after which this principal would administer the installation no more, where nobody else does: no
 * other enabled user, or enabled service account whose owner is there, with the role `admin`, whatever credentials they
 * have. Right only under
 * `administratorsLock`, which every such change takes. (specification, *Authentication*, rule 12; *Errors*, 409)
 * @throws Conflict
 */
export async function refuseLastAdministrator(
  em: Em,
  principal: { readonly id: string; readonly role: PlatformRole | null; readonly enabled: boolean },
): Promise<void> {
  if (principal.role !== 'admin' || !principal.enabled) return;
  const [row] = await em.execute<[{ exists: boolean }]>(
    `select exists (select 1 from principals p
                     where p.role = 'admin' and p.enabled and p.deleted_at is null and p.id <> ?
                       and (p.kind = 'user' or p.kind = 'service_account' and exists (
                         select 1 from service_accounts a
                           left join principals u on u.id = a.owner_user_id and u.deleted_at is null
                           left join teams t on t.id = a.owner_team_id and t.deleted_at is null
                          where a.id = p.id and (u.id is not null or t.id is not null))))`,
    [principal.id],
  );
  if (row.exists) return;
  throw new Conflict('this is the last administrator: make somebody else an administrator first');
}
