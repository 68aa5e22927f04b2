import type { Em } from '#database/database.ts';
import { loadVersionById } from '#domain/registry/published.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { refuseByStatus } from '../actions.ts';
import type { Run } from '../entity.ts';
import { openInputs } from './inputs.ts';
import { assemble, type PreparedRun } from './resolve.ts';
import type { AdmissionTarget } from './target.ts';

/** Prepares a new run from an ended one, with the same version and the same inputs, for today's caller. */
export async function prepareRequeue(
  em: Em,
  keyRing: KeyRing,
  run: Run,
  target: AdmissionTarget,
): Promise<PreparedRun> {
  refuseByStatus('requeue', run.status);
  const version = await loadVersionById(em, run.templateVersionId);
  return assemble(keyRing, target, version, {
    operation: run.operation,
    replace: run.replace,
    instance: run.instance,
    message: run.message,
    shown: run.variables,
    inputs: openInputs(keyRing, run.id, run.sealedInputs),
    requeuedFrom: run.id,
  });
}
