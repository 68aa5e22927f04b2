import type { Em } from '#database/database.ts';
import type { ProjectTarget } from '#domain/projects/store.ts';
import { readSettings } from '#domain/settings/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { newId } from '#domain/shared/ids.ts';
import { reportingSlugConflict } from '#domain/shared/ownership-graph/slugs.ts';
import { type Difference, findDifference, readBack, refuseStale, saveChange } from '#domain/shared/revisions.ts';
import { toPolicyFields } from '#domain/shared/vocabulary/approval.ts';
import { chooseSlug } from '#domain/tenancy/slugs.ts';
import { Environment } from './entity.ts';
import { raiseRevisionOfGovernedRuns } from './governed-runs-store.ts';
import type { EnvironmentChange, NewEnvironment } from './model.ts';
import {
  changesPolicy,
  choosePolicy,
  publishProtection,
  refuseWeakening,
  refuseWeakProduction,
  usualPolicy,
} from './protection.ts';
import { type EnvironmentFields, type EnvironmentTarget, findEnvironment, insertEnvironment } from './store.ts';

/**
 * Creates an environment of a project. Without an approval policy, it gets that of the settings, and that of its kind where this is
 * stricter.
 * @throws Forbidden for production with a weaker policy, if the caller may not weaken one
 * @throws Conflict for something archived, or a slug that is taken
 */
export async function createEnvironment(
  em: Em,
  principal: Principal,
  project: ProjectTarget,
  request: NewEnvironment,
): Promise<EnvironmentTarget> {
  const slug = chooseSlug(request);
  const {
    name,
    kind,
    ttlSeconds = null,
    isolation = null,
    allowedOptions = null,
    planSecrets = null,
    tool = null,
  } = request;
  const approvalPolicy = request.approvalPolicy ?? usualPolicy(kind, (await readSettings(em)).document);
  const rules = { ttlSeconds, isolation, allowedOptions, planSecrets, tool };
  const fields = { name, slug, kind, ...toPolicyFields(approvalPolicy), ...rules };
  refuseWeakProduction(principal, project, fields);
  refuseArchived(project);
  const id = newId();
  await reportingSlugConflict('environment', slug, () =>
    insertEnvironment(em, { id, projectId: project.id, ...fields }),
  );
  return readBack(findEnvironment(em, id));
}

/**
 * Changes an environment. A change of its protection publishes an event.
 * @throws Forbidden if the change weakens the environment's protection and the caller may not do that
 * @throws Conflict for a stale revision, something archived, or a slug that is taken
 */
export async function updateEnvironment(
  tx: Transaction,
  principal: Principal,
  environment: EnvironmentTarget,
  request: EnvironmentChange,
): Promise<{ updated: EnvironmentTarget; difference: Difference<EnvironmentFields> }> {
  const { expectedRevision, approvalPolicy: _, ...wanted } = request;
  const policy = choosePolicy(environment, request);
  const difference = findDifference<EnvironmentFields>(describeEnvironment(environment), {
    ...wanted,
    ...(policy && toPolicyFields(policy)),
  });
  refuseWeakening(principal, environment, environment, { ...environment, ...difference.after });
  refuseArchived(environment);
  refuseStale(environment, expectedRevision);
  if (difference.isEmpty) return { updated: environment, difference };
  const { after } = difference;
  await reportingSlugConflict('environment', after.slug ?? environment.slug, () =>
    saveChange(tx.em, Environment, environment, after),
  );
  publishProtection(tx, environment, difference);
  if (changesPolicy(difference)) await raiseRevisionOfGovernedRuns(tx.em, environment.id);
  return { updated: await readBack(findEnvironment(tx.em, environment.id)), difference };
}

/** The present values of the fields that a request may change. */
export function describeEnvironment(environment: EnvironmentTarget): EnvironmentFields {
  const { name, slug, kind, approvalRequired, approvalWhen, approvalAllowSelf, ...rules } = environment;
  const { ttlSeconds, isolation, allowedOptions, planSecrets, tool } = rules;
  const policy = { approvalRequired, approvalWhen, approvalAllowSelf };
  return { name, slug, kind, ...policy, ttlSeconds, isolation, allowedOptions, planSecrets, tool };
}
