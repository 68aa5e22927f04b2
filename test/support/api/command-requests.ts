import type { CommandOperation } from '#api/pipeline/operation.ts';
import { newId } from '#domain/shared/ids.ts';
import { type SetupApi, setups } from './command-setups.ts';
import { bodies } from './example-bodies.ts';
import type { Request } from './operation-requests.ts';
import { addTenant } from './tenant.ts';
import type { Ids } from './tenant-ids.ts';

/** A request with which a command succeeds on a new tenant, with a new idempotency key if the command takes one. */
export async function requestOf(api: SetupApi, operation: CommandOperation): Promise<Request> {
  const tenant = operation.id === 'bootstrap.admin' ? ({} as Ids) : await addTenant(api, api.root, { operation });
  const setup = (await setups[operation.id]?.(api, tenant)) ?? {};
  const ids = { ...tenant, ...setup.ids };
  const body = operation.body && JSON.stringify(setup.body ?? bodies[operation.id]?.(ids) ?? {});
  const headers = {
    ...setup.headers,
    ...(operation.idempotency !== 'none' && { 'idempotency-key': newId() }),
  };
  return { ids, key: 'key' in setup ? setup.key : api.root.key, headers, path: setup.path, body };
}
