import type { Em } from '#database/database.ts';
import { loadPublishedAssembly } from '#domain/assemblies/runs/admission/published.ts';
import { listAvailableVersions } from '#domain/assemblies/versions/version-store.ts';
import { db } from '#domain/db.ts';
import { loadVersion, loadVersionById } from '#domain/registry/publication/published.ts';
import type { TemplateSpec } from '#domain/registry/spec.ts';
import { maskVariables } from '#domain/registry/variables/variables.ts';
import { resolveVersion } from '#domain/registry/versions.ts';
import { findDeployedVersion, prefillOf } from '#domain/runs/admission/deployment.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { RunWork, ShownWork } from '../model.ts';

type Schema = TemplateSpec['variables'];

/**
 * Works as answers show them. A variable is masked if it was secret in the version with which the work was saved, or is secret in the
 * version that would run now. If no version would run now, all variables are masked.
 */
export async function showWorks<Row extends { readonly work: ShownWork }>(
  em: Em,
  rows: readonly Row[],
): Promise<Row[]> {
  const schemas = new Map<string, Schema | null>();
  const shown: Row[] = [];
  for (const row of rows) {
    const { variables: open } = prefillOf(row.work.variables);
    if (Object.keys(open).length === 0) {
      shown.push(row);
      continue;
    }
    const key = JSON.stringify(schemaKey(row.work));
    const schema = schemas.has(key) ? schemas.get(key) : await findSchema(em, row.work);
    schemas.set(key, schema ?? null);
    const variables = { ...row.work.variables, ...maskVariables(schema ?? {}, open) };
    shown.push({ ...row, work: { ...row.work, variables } });
  }
  return shown;
}

/** The key on which the choice of the schema depends. Most schedules of a template have the same key, so their schema is read once. */
function schemaKey(work: ShownWork) {
  if (work.kind !== 'run') return [work.assemblyId, work.version];
  const { templateId, version, operation, environmentId, instance } = work;
  return operation === 'destroy' && version === null ? [templateId, environmentId, instance] : [templateId, version];
}

/** The schema of the variables in the version that the work would run now; null if no version would run. */
async function findSchema(em: Em, work: ShownWork): Promise<Schema | null> {
  try {
    if (work.kind === 'run') return (await findTemplateVersion(em, work)).spec.variables;
    const { id } = resolveVersion(await listAvailableVersions(em, work.assemblyId), work.version, 'assembly');
    return (await loadPublishedAssembly(em, id)).spec.variables;
  } catch (error) {
    if (error instanceof Unprocessable) return null;
    throw error;
  }
}

/** A destroy that names no version takes that of the deployment. */
async function findTemplateVersion(em: Em, work: RunWork) {
  const { templateId, version, operation } = work;
  const deployed = operation === 'destroy' && version === null ? await findDeployed(em, work) : null;
  return deployed ? loadVersionById(em, deployed) : loadVersion(em, templateId, version ?? 'latest');
}

async function findDeployed(em: Em, work: RunWork): Promise<string | null> {
  return findDeployedVersion(em, work, work.instance ?? (await findSlug(em, work.templateId)));
}

async function findSlug(em: Em, templateId: string): Promise<string> {
  const { slug } = await db(em)
    .selectFrom('templates')
    .where('id', '=', templateId)
    .select('slug')
    .executeTakeFirstOrThrow();
  return slug;
}
