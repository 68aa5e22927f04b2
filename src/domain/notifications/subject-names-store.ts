import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { SubjectKind } from '#domain/news/model.ts';
import type { Subject } from '#domain/news/subjects.ts';
import { scopeNames } from '#domain/quotas/model.ts';
import { findQuotaOwner } from '#domain/quotas/owner-store.ts';
import { findRun, placeOfRun } from './creation/run-facts.ts';

type FindName = (em: Em, id: string) => Promise<string | undefined>;

/** What each kind of subject is called with its name. */
const finders: Readonly<Record<SubjectKind, FindName>> = {
  run: async (em, id) => {
    const run = await findRun(em, id);
    return run && `Run of ${placeOfRun(run)}`;
  },
  drift_monitor: async (em, id) => {
    const monitor = await db(em)
      .selectFrom('drift_monitors as m')
      .leftJoin('instances as i', 'i.id', 'm.instance_id')
      .leftJoin('templates as t', 't.id', 'm.template_id')
      .leftJoin('environments as e', 'e.id', 'm.environment_id')
      .where('m.id', '=', id)
      .select((eb) => eb.fn.coalesce('i.name', 't.name', 'e.name').as('name'))
      .executeTakeFirst();
    return monitor?.name ? `Drift monitor of ${monitor.name}` : undefined;
  },
  drift_finding: async (em, id) => {
    const finding = await db(em).selectFrom('drift_findings').where('id', '=', id).select('address').executeTakeFirst();
    return finding && `Deviation of ${finding.address}`;
  },
  webhook: async (em, id) => {
    const webhook = await db(em).selectFrom('webhooks').where('id', '=', id).select('name').executeTakeFirst();
    return webhook && `Webhook ${webhook.name}`;
  },
  quota: async (em, id) => {
    const owner = await findQuotaOwner(em, id);
    return owner ? `Quota: ${scopeNames[owner.scope]} ${owner.name}` : undefined;
  },
  api_key: async (em, id) => {
    const key = await db(em).selectFrom('api_keys').where('id', '=', id).select('name').executeTakeFirst();
    return key && `Key ${key.name}`;
  },
  instance: async (em, id) => {
    const instance = await db(em).selectFrom('instances').where('id', '=', id).select('name').executeTakeFirst();
    return instance && `Instance ${instance.name}`;
  },
};

/** What a subject is called, such as "Webhook Chat"; null where nobody knows any more. The caller has decided that it may be read. */
export async function findSubjectName(em: Em, { kind, id }: Subject): Promise<string | null> {
  return (await finders[kind](em, id)) ?? null;
}
