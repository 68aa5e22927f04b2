import { openInputs, type RunInputs } from '#domain/runs/admission/inputs/inputs.ts';
import { Run } from '#domain/runs/entity.ts';
import type { TestApi } from '../api/in-process-api.ts';

/** The inputs with which a run was admitted, secrets included. */
export async function readInputs({ services: { orm, keyRing } }: TestApi, id: string): Promise<RunInputs> {
  const run = await orm.em.fork().findOneOrFail(Run, { id });
  return openInputs(keyRing, id, run.sealedInputs);
}
