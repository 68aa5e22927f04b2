import { type Expression, type SqlBool, sql } from 'kysely';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import { maskOutputs } from './state/masked-outputs.ts';

/** Outputs that became secret after they were read. Whatever says so wins: the instance as it is now, or a version of its template. */

/**
 * The names of the outputs that are secret: by these outputs themselves, by the version of the run that gave them, or by a newer one of the same template
 * that was not yanked.
 */
export function secretNamesOf(outputs: Expression<unknown>, runId: Expression<unknown>) {
  return sql<string[]>`array(
    select o.key from jsonb_each(${outputs}) o where o.value ->> 'sensitive' = 'true'
    union
    select s.name from ${secretsByVersions(runId)})`;
}

/** The same of the outputs of the run `run` alone. It looks up each name, so its cost does not depend on how many newer versions there are: lists use it for each row. */
export function secretNamesAmong(run: 'runs' | 'ran') {
  const column = (name: 'outputs' | 'templateId' | 'templateVersionId') => sql.ref(`${run}.${name}`);
  const [templateId, versionId] = [column('templateId'), column('templateVersionId')];
  // For an `exists`, PostgreSQL would read all outputs of all these versions first.
  return sql<string[]>`array(
    select o.key from jsonb_each(${column('outputs')}) o
    where o.value ->> 'sensitive' = 'true' or (
      select s.name from template_secret_outputs s
        where s.template_id = ${templateId} and s.name = o.key and ${isSince(versionId)} limit 1) is not null)`;
}

/** Whether an output is secret by the version of a run or by a newer one. For an `exists`, PostgreSQL would read all outputs of all these versions first. */
export function isSecretByVersions(runId: Expression<unknown>, name: Expression<unknown>) {
  return sql<SqlBool>`(select s.name from ${secretsByVersions(runId)} and s.name = ${name} limit 1) is not null`;
}

/** The outputs `s` that are secret by the version of a run or by a newer one. */
function secretsByVersions(runId: Expression<unknown>) {
  return sql`runs d join template_secret_outputs s on s.template_id = d.template_id and ${isSince(sql.ref('d.templateVersionId'))}
    where d.id = ${runId}`;
}

/** Whether the version that calls the output `s` secret is this one, or a newer one that was not yanked. */
function isSince(versionId: Expression<unknown>) {
  return sql<SqlBool>`s.version_id >= ${versionId} and (not s.is_yanked or s.version_id = ${versionId})`;
}

/** The names of the outputs that are secret by the version of a run or by a newer one. */
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

/** Outputs as people are shown them: without the values of those that are secret, also by a version that is newer than what recorded them. */
export function showOutputs(outputs: MaskedOutputs, secret: readonly string[]): MaskedOutputs {
  return maskOutputs(withSecrets(outputs, secret));
}
