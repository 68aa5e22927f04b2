import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { lockForChange, type RowLock } from '#database/row-lock.ts';
import { db } from '#domain/db.ts';
import { findRowOwner, type OwnerIds } from '#domain/owners/owner.ts';
import { isOfOwner, isOfReadableOwner } from '#domain/owners/rows-store.ts';
import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Archivable } from '#domain/shared/archiving.ts';
import { type Page, type PageRequest, pageOf } from '#domain/shared/paging/paging.ts';
import { Webhook } from './entity.ts';
import type { DisabledReason } from './model.ts';

/** A webhook with its owner. */
export interface WebhookTarget extends Ownership, Archivable {
  readonly webhook: Webhook;
}

/** A webhook by its id; undefined if it or its owner is deleted. With `lock` it locks the rows of the owner, then its own. */
export async function findWebhook(em: Em, id: string, lock: RowLock = false): Promise<WebhookTarget | undefined> {
  const known = await em.findOne(Webhook, { id });
  const owner = known && (await findRowOwner(em, known, lock));
  const webhook = owner && lock ? await lockForChange(em, Webhook, { id }) : known;
  if (!owner || !webhook) return undefined;
  return { organizationId: owner.organizationId, teamId: owner.teamId, archived: owner.archived, webhook };
}

/** A webhook as its readers see it. */
export interface WebhookDetails extends OwnerIds {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly isEnabled: boolean;
  readonly disabledReason: DisabledReason | null;
  readonly previousUntil: string | null;
  readonly failingSince: string | null;
  readonly problem: string | null;
  /** The organization that is the owner, or to which the owner belongs. */
  readonly belongsTo: string | null;
  readonly pending: number;
  readonly revision: number;
  readonly createdAt: string;
}

/** The count of pending deliveries stops at this number. */
export const maxCounted = 1000;

/** A page of the webhooks that a principal may read. Those of the installation are for administrators. */
export function listWebhooks(
  em: Em,
  principal: Principal,
  filter: OwnerIds,
  request: PageRequest,
): Promise<Page<WebhookDetails>> {
  const webhooks = selectWebhooks(em).where((eb) => {
    const owner = {
      organization: eb.ref('w.organizationId'),
      team: eb.ref('w.teamId'),
      project: eb.ref('w.projectId'),
    };
    return eb.and([isOfReadableOwner(principal, owner, 'administrators'), isOfOwner(filter, owner)]);
  });
  return pageOf(webhooks, 'w.id', request);
}

/** One webhook. The caller has checked that the principal may read it. */
export function readWebhook(em: Em, id: string): Promise<WebhookDetails | undefined> {
  return selectWebhooks(em).where('w.id', '=', id).executeTakeFirst();
}

/** It never selects secrets, so that reading a webhook decrypts nothing. */
function selectWebhooks(em: Em) {
  return db(em)
    .selectFrom('webhooks as w')
    .innerJoin('webhook_queues as q', 'q.webhookId', 'w.id')
    .leftJoin('teams as t', 't.id', 'w.teamId')
    .select(['w.id', 'w.organizationId', 'w.teamId', 'w.projectId'])
    .select(['w.name', 'w.url', 'w.events', 'w.isEnabled', 'w.disabledReason'])
    .select(['w.previousUntil', 'q.failingSince', 'q.problem'])
    .select((eb) => eb.fn.coalesce('w.organizationId', 't.organizationId').as('belongsTo'))
    .select(['w.revision', 'w.createdAt'])
    .select((eb) =>
      eb
        .selectFrom(
          eb
            .selectFrom('webhook_deliveries as d')
            .whereRef('d.webhookId', '=', 'w.id')
            .where('d.status', '=', sql.lit('pending'))
            .select('d.id')
            .limit(maxCounted)
            .as('waiting'),
        )
        .select((of) => sql<number>`${of.fn.countAll()}::int`.as('count'))
        .$castTo<{ count: number }>()
        .as('pending'),
    )
    .$castTo<WebhookDetails>();
}
