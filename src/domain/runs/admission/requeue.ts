import type { Em } from '#database/database.ts';
import { loadVersionById } from '#domain/registry/published.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { refuseByStatus } from '../actions.ts';
import type { Run } from '../entity.ts';
import { openInputs } from './inputs.ts';
import { buildRun, type ResolvedRun } from './resolve.ts';
import type { AdmissionTarget } from './target.ts';

/**
 * Resolves a requeue: a new run with the version and the inputs of an ended one.
 * @throws ActionRefused where the run has not ended
 */
export async function resolveRequeue(
  em: Em,
  keyRing: KeyRing,
  run: Run,
  target: AdmissionTarget,
): Promise<ResolvedRun> {
  refuseByStatus('requeue', run.status);
  const version = await loadVersionById(em, run.templateVersionId);
  return buildRun(keyRing, target, version, {
    operation: run.operation,
    replace: run.replace,
    instance: run.instance,
    message: run.message,
    shown: run.variables,
    inputs: openInputs(keyRing, run.id, run.sealedInputs),
    requeuedFrom: run.id,
  });
}
