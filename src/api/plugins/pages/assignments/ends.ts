import { list as listRecords } from '#api/audit/operations.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { ShownGrant } from '../words.ts';

/** When something ended an assignment, and who did it. */
export interface End {
  readonly at: string;
  readonly by: string;
}

/** So many records of a plugin are looked at: what happened earlier is in its history. */
const most = '200';

/**
 * Finds when assignments of one plugin ended, by their ids, as far as the visitor may know it: the audit says when a release was activated or a
 * ceiling was replaced, so the visitor needs to read these records. Whoever reads a revoked assignment sees the time of its revocation in it.
 */
export async function findEnds(visit: Visit<unknown>, grants: readonly ShownGrant[]): Promise<Map<string, End>> {
  const ended = grants.filter((grant) => grant.ended !== null && grant.revoked_at === null);
  const [first] = ended;
  if (!first || !visit.mayDo(listRecords).allowed) return new Map();
  const query = { resource_id: first.installation_id, outcome: 'committed', limit: most };
  const { audit_records: records } = await visit.read(listRecords, { query });
  const oldestFirst = records.toReversed();
  const ends = ended.flatMap((grant) => {
    const found = oldestFirst.find((each) => each.at > String(grant.created_at) && hasEnded(each, grant));
    return found ? [[grant.id, { at: found.at, by: found.actor.name }] as const] : [];
  });
  return new Map(ends);
}

function hasEnded(
  { action, after }: { action: string; after: unknown },
  { ended, action: { name } }: ShownGrant,
): boolean {
  if (ended?.code === 'plugin_removed') return action === 'plugin_installation.deleted';
  if (ended?.code === 'release_changed') return action === 'plugin_installation.activated';
  if (ended?.code !== 'action_not_approved' || action !== 'plugin_installation.ceiling_replaced') return false;
  const { actions } = Object(after) as { readonly actions?: unknown };
  return Array.isArray(actions) && !actions.includes(name);
}
