import type { Visit } from '#api/web/visit/visit.ts';
import { findRotatedSince } from '#domain/runs/admission/rotated.ts';
import { findSecretsOfOthersIn } from '#domain/runs/admission/secret-givers.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import type { SourceRun } from './form-visit.ts';

/** The secrets of a run whose values in its environment have changed. The visitor may read both. */
export async function findRotatedSecrets(
  { em, context, principal }: Visit,
  repeated: { readonly run: SourceRun } | null,
  environmentId: string,
  schema: JsonObject,
): Promise<string[]> {
  if (!repeated || environmentId === '' || repeated.run.environment_id !== environmentId) return [];
  return findRotatedSince(em, context.services, { runId: repeated.run.id, environmentId, schema }, principal);
}

/**
 * The secrets of a run that another person entered. The visitor may read the run.
 * @param withOutputs also secrets that come from an output
 */
export async function findSecretsOfOthers(
  { em, context, principal }: Visit,
  repeated: SourceRun | null,
  withOutputs: boolean,
): Promise<string[]> {
  if (!repeated) return [];
  return findSecretsOfOthersIn(em, context.services.keyRing, { runId: repeated.id, withOutputs }, principal);
}
