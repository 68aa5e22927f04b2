import { operationRules } from '#domain/assemblies/model.ts';
import { chooseNodes } from '#domain/assemblies/runs/admission/choose-nodes.ts';
import { loadPublishedAssembly } from '#domain/assemblies/runs/admission/published.ts';
import { checkVariables } from '#domain/assemblies/runs/admission/variables.ts';
import { findStartTarget, requireEnvironment } from '#domain/assemblies/runs/targets.ts';
import { listAvailableVersions } from '#domain/assemblies/versions/version-store.ts';
import { resolveVersion } from '#domain/registry/versions.ts';
import { resolveFromDeployed } from '#domain/runs/admission/inputs/from-deployed.ts';
import { chooseSupported, resolveRun } from '#domain/runs/admission/resolve.ts';
import type { ResolveDeps, ResolvedRun, RunRequest } from '#domain/runs/admission/run-request.ts';
import { type AdmissionTarget, findAdmissionTarget } from '#domain/runs/admission/target.ts';
import { readToolDemand } from '#domain/runs/admission/tool-demand.ts';
import { refuseOptions } from '#domain/runs/options/rules.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { invalidField, Unprocessable } from '#domain/shared/errors.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { limitSubjectOfCaller } from '#domain/shared/tasks/limit-subject.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Masked } from '#domain/shared/values/masked.ts';
import type { AssemblyWork, RunWork, ShownWork, Work } from './model.ts';
import { workContext } from './sealed.ts';

export function sealWork(keyRing: KeyRing, scheduleId: string, work: Work): Buffer {
  return keyRing.sealJson(workContext(scheduleId), work);
}

export function openWork(keyRing: KeyRing, schedule: { readonly id: string; readonly sealedWork: Uint8Array }): Work {
  return keyRing.openJson<Work>(workContext(schedule.id), schedule.sealedWork);
}

/**
 * Checks that the work could be started now, and masks its secret variables. It is checked again at every start: versions, policies and
 * authority may have changed in the meantime.
 * @throws Unprocessable or Conflict with the problem
 */
export function checkWork(
  tx: Transaction,
  deps: ResolveDeps,
  { teamId, work }: { teamId: string; work: Work },
  requester: Principal,
): Promise<ShownWork> {
  return work.kind === 'run'
    ? checkRun(tx, deps, teamId, work, requester)
    : checkAssembly(tx, deps, teamId, work, requester);
}

async function checkRun(
  tx: Transaction,
  deps: ResolveDeps,
  teamId: string,
  work: RunWork,
  requester: Principal,
): Promise<ShownWork> {
  const { templateId, environmentId } = work;
  const target = await findAdmissionTarget(tx.em, { templateId, environmentId: environmentId ?? undefined }, true);
  if (!target || target.teamId !== teamId) throw unknown('work.run', 'template that can run there');
  refuseArchived(target);
  if (work.operation === 'destroy' && Object.keys(work.variables).length === 0) {
    // Such work takes its variables from the deployment at its start; nothing may be deployed yet.
    const request = toRunRequest(work);
    const instance = work.instance ?? target.templateSlug;
    const { version } = await chooseSupported(tx.em, deps.keyRing, target, { ...request, instance, omit: work.omit });
    const demand = await readToolDemand(tx.em, { target, version, instance, operation: work.operation });
    refuseOptions({ spec: version.spec, target, demand }, { ...request, options: request.options ?? null });
    return work;
  }
  const resolved = await resolveWork(tx, deps, target, { work, isStart: false }, requester);
  return { ...work, variables: { ...onlyNamed(work.variables, resolved.variables), ...written(work, resolved) } };
}

/**
 * Resolves the run for a start of the work. A destroy always takes unnamed variables from the deployment. A start does not fail if a
 * variable to omit is no longer in the deployment and the template, because then there is nothing to omit.
 * @throws Unprocessable as `resolveRun` and `resolveFromDeployed` do
 */
export function resolveWork(
  tx: Transaction,
  deps: ResolveDeps,
  target: AdmissionTarget,
  { work, isStart }: { readonly work: RunWork; readonly isStart: boolean },
  requester: Principal,
): Promise<ResolvedRun> {
  const request = {
    ...toRunRequest(work),
    instance: work.instance ?? target.templateSlug,
    acceptsUnknownOmit: isStart,
  };
  const startsFromDeployed = work.variablesFrom === 'deployed' && work.operation !== 'destroy';
  return startsFromDeployed
    ? resolveFromDeployed(tx, deps, target, { ...request, omit: work.omit ?? [] }, requester)
    : resolveRun(tx, deps, target, { ...request, omit: work.omit }, requester);
}

/** The variables that consist only of a reference, as they were written: each start resolves them again. */
function written({ variables }: RunWork, { reads }: ResolvedRun): Record<string, JsonValue> {
  const names = new Set(reads.filter(({ path }) => path === '').map(({ variable }) => variable));
  return Object.fromEntries(Object.entries(variables).filter(([name]) => names.has(name)));
}

async function checkAssembly(
  tx: Transaction,
  { evaluator }: ResolveDeps,
  teamId: string,
  work: AssemblyWork,
  requester: Principal,
): Promise<ShownWork> {
  const target = await findStartTarget(tx.em, work, true);
  if (!target?.environment || target.teamId !== teamId) throw unknown('work.assembly_run', 'assembly or environment');
  refuseArchived(target);
  const available = await listAvailableVersions(tx.em, work.assemblyId);
  const found = resolveVersion(available, work.version, 'assembly');
  const version = await loadPublishedAssembly(tx.em, found.id);
  if (!operationRules[work.operation].evaluatesInputs) {
    if (Object.keys(work.variables).length === 0) return work;
    throw invalidField('work.assembly_run.variables', 'a destroy takes none: it uses those that were deployed');
  }
  await chooseNodes(tx, requireEnvironment(target), version, { ...work, only: work.only ?? undefined });
  const asked = { subject: limitSubjectOfCaller(requester), versionId: version.id };
  const { shown } = await checkVariables(tx, evaluator, version.spec, work.variables, asked);
  return { ...work, variables: onlyNamed(work.variables, shown) };
}

/** The request for the run, as a person would send it. */
function toRunRequest({ version, instance, ...work }: RunWork): RunRequest {
  const { operation, replace, options, variables, message } = work;
  const named = { version: version ?? undefined, instance: instance ?? undefined };
  return { ...named, operation, replace, options, variables, message, resolvesReferences: true };
}

/** The masked values of the variables that the work names, without defaults and inherited ones. */
function onlyNamed(
  named: Record<string, JsonValue>,
  shown: Record<string, JsonValue | Masked>,
): Record<string, JsonValue> {
  return Object.fromEntries(Object.keys(named).map((name) => [name, shown[name] ?? { sensitive: true }])) as Record<
    string,
    JsonValue
  >;
}

/** The answer is the same if another team has the resource, so that it reveals nothing that the caller may not read. */
function unknown(field: string, what: string): Unprocessable {
  return new Unprocessable(`${field}: the schedule's team has no such ${what}`, { code: 'schedule_work_unknown' });
}
