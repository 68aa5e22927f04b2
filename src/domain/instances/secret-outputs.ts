import { type Expression, type SqlBool, sql } from 'kysely';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import { maskOutputs } from './state/masked-outputs.ts';

/**
 * Finds outputs that became secret after they were read. An output is secret if either the present instance or a version of its template
 * says so.
 */

/**
 * The names of the outputs that are secret: marked as secret in these outputs themselves, in the version of the run that produced them, or
 * in a newer version of the same template that was not yanked.
 */
export function secretNamesOf(outputs: Expression<unknown>, runId: Expression<unknown>) {
  return sql<string[]>`array(
    select o.key from jsonb_each(${outputs}) o where o.value ->> 'sensitive' = 'true'
    union
    select s.name from ${secretsByVersions(runId)})`;
}

/**
 * `secretNamesOf` for the outputs of the run `run`. It looks up each name, so its cost does not depend on the number of newer versions.
 * Lists use it for each row.
 */
export function secretNamesAmong(run: 'runs' | 'ran') {
  const column = (name: 'outputs' | 'templateId' | 'templateVersionId') => sql.ref(`${run}.${name}`);
  const [templateId, versionId] = [column('templateId'), column('templateVersionId')];
  // This is not an `exists`, because PostgreSQL would then first read all outputs of all these versions.
  return sql<string[]>`array(
    select o.key from jsonb_each(${column('outputs')}) o
    where o.value ->> 'sensitive' = 'true' or (
      select s.name from template_secret_outputs s
        where s.template_id = ${templateId} and s.name = o.key and ${isSince(versionId)} limit 1) is not null)`;
}

/**
 * Whether the version of a run or a newer one marks an output as secret. It is not an `exists`, because PostgreSQL would then first read
 * all outputs of all these versions.
 */
export function isSecretByVersions(runId: Expression<unknown>, name: Expression<unknown>) {
  return sql<SqlBool>`(select s.name from ${secretsByVersions(runId)} and s.name = ${name} limit 1) is not null`;
}

/** The outputs `s` that the version of a run or a newer one marks as secret. */
function secretsByVersions(runId: Expression<unknown>) {
  return sql`runs d join template_secret_outputs s on s.template_id = d.template_id and ${isSince(sql.ref('d.templateVersionId'))}
    where d.id = ${runId}`;
}

/** Whether the version that marks the output `s` as secret is this one, or a newer one that was not yanked. */
function isSince(versionId: Expression<unknown>) {
  return sql<SqlBool>`s.version_id >= ${versionId} and (not s.is_yanked or s.version_id = ${versionId})`;
}

/** The names of the outputs that the version of a run or a newer one marks as secret. */
export function secretNamesByVersions(runId: Expression<unknown>) {
  return secretNamesOf(sql`'{}'::jsonb`, runId);
}

export function withSecrets(outputs: MaskedOutputs, secret: readonly string[]): MaskedOutputs {
  const names = new Set(secret);
  const entries = Object.entries(outputs).map(([name, output]) => [
    name,
    names.has(name) ? { ...output, sensitive: true } : output,
  ]);
  return Object.fromEntries(entries);
}

/** Outputs for people: the values of secret ones are masked, including those named in `secret`, which newer versions have marked. */
export function showOutputs(outputs: MaskedOutputs, secret: readonly string[]): MaskedOutputs {
  return maskOutputs(withSecrets(outputs, secret));
}
