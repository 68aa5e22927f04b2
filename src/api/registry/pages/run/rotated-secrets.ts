import type { Visit } from '#api/web/visit/visit.ts';
import { findRotatedSince } from '#domain/runs/admission/rotated.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import type { SourceRun } from './form-visit.ts';

/** The secrets of a run that its environment gives otherwise now. The visitor may read both. */
export async function findRotatedSecrets(
  { em, context, principal }: Visit,
  repeated: { readonly run: SourceRun } | null,
  environmentId: string,
  schema: JsonObject,
): Promise<string[]> {
  if (!repeated || environmentId === '' || repeated.run.environment_id !== environmentId) return [];
  return findRotatedSince(em, context.services, { runId: repeated.run.id, environmentId, schema }, principal);
}
