import type { Em } from '#database/database.ts';

/** Long enough to find out, after an incident, from where a session was opened. */
const keptFor = `interval '7 days'`;
const batchSize = 1_000;

/**
 * Removes sessions, and links to set a password, that ended a week ago; history has its own record of both. A batch at a
 * time, so that no transaction holds many rows. Answers how many sessions went.
 */
export async function removeOldSessions(em: Em): Promise<number> {
  await em.execute(`delete from password_resets where expires_at < now() - ${keptFor}`);
  for (let removed = 0; ; ) {
    const rows = await em.execute<{ id: string }[]>(
      `delete from sessions where id in (
         select id from sessions where expires_at < now() - ${keptFor} order by expires_at limit ? for update skip locked)
       returning id`,
      [batchSize],
    );
    removed += rows.length;
    if (rows.length < batchSize) return removed;
  }
}
