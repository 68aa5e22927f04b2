import type { CommandOperation } from '#api/pipeline/operation.ts';
import { newId } from '#domain/shared/ids.ts';
import { type Stage, scenes } from './command-scenes.ts';
import { addTenant, bodies, type Ids, type Request } from './operation-requests.ts';

/** The request by which a command succeeds on a new tenant, under a key of its own where it takes one. */
export async function requestOf(stage: Stage, operation: CommandOperation): Promise<Request> {
  const tenant = operation.id === 'bootstrap.admin' ? ({} as Ids) : await addTenant(stage, stage.root);
  const scene = (await scenes[operation.id]?.(stage, tenant)) ?? {};
  const ids = scene.ids ?? tenant;
  const body = operation.body && JSON.stringify(scene.body ?? bodies[operation.id]?.(ids) ?? {});
  const headers = {
    ...scene.headers,
    ...(operation.idempotency !== 'none' && { 'idempotency-key': newId() }),
  };
  return { ids, key: 'key' in scene ? scene.key : stage.root.key, headers, path: scene.path, body };
}
