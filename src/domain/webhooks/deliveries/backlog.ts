import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { dropMonth, findMonthsBefore } from '#database/partitions.ts';
import { db } from '#domain/db.ts';
import type { SystemCommandDeps } from '#domain/shared/commands/system-command.ts';
import { disableWebhook } from '../disabling.ts';

/** How many messages may wait for an endpoint before its webhook is disabled: fewer if the endpoint fails than if it is only slow. */
interface BacklogLimits {
  readonly failing: number;
  readonly slow: number;
}

export const backlogLimits: BacklogLimits = { failing: 10_000, slow: 100_000 };

/**
 * Disables the webhooks for which too many messages wait, so that no endpoint makes the table of deliveries grow without a limit. The
 * waiting deliveries are kept. The audit, an event and a notification report it, so that people notice it. Returns the ids of the webhooks.
 */
export async function disableOverfull(
  deps: SystemCommandDeps,
  em: Em,
  limits: BacklogLimits = backlogLimits,
): Promise<string[]> {
  const overfull = await findOverfull(em, limits);
  for (const id of overfull) await disableWebhook(deps, id, 'behind');
  return overfull;
}

async function findOverfull(em: Em, { failing, slow }: BacklogLimits): Promise<string[]> {
  const rows = await db(em)
    .selectFrom('webhook_deliveries as d')
    .innerJoin('webhooks as w', 'w.id', 'd.webhookId')
    .innerJoin('webhook_queues as q', 'q.webhookId', 'd.webhookId')
    .where('d.status', '=', sql.lit('pending'))
    .where('w.isEnabled', '=', true)
    .groupBy(['d.webhookId', 'q.failingSince'])
    .having((eb) =>
      eb(
        eb.fn.countAll<number>(),
        '>',
        sql<number>`case when ${eb.ref('q.failingSince')} is null then ${slow}::int else ${failing}::int end`,
      ),
    )
    .select('d.webhookId as id')
    .execute();
  return rows.map(({ id }) => id);
}

const keptDays = 30;
const dayMs = 24 * 60 * 60 * 1000;

/** Drops the months whose deliveries are all older than 30 days, also those that still wait because their webhook is disabled. */
export async function dropOldDeliveries(em: Em, now = new Date()): Promise<string[]> {
  const months = await findMonthsBefore(em, 'webhook_deliveries', new Date(now.getTime() - keptDays * dayMs));
  const dropped: string[] = [];
  for (const month of months) {
    const rows = await em.transactional((tx) => dropMonth(tx, 'webhook_deliveries', month));
    if (rows !== undefined) dropped.push(month);
  }
  return dropped;
}
