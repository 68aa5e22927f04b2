import type { Em } from '#database/database.ts';
import { resolveConnections } from '#domain/connections/bindings/resolve.ts';
import type { PublishedVersion } from '#domain/registry/publication/published.ts';
import type { TemplateSpec } from '#domain/registry/spec.ts';
import { refuseOtherTools } from '#domain/registry/tools/allowed.ts';
import type { SettingsDocument } from '#domain/settings/document.ts';
import { usualApproval } from '#domain/settings/effective.ts';
import { readSettings } from '#domain/settings/store.ts';
import { readClosedFeatures, refuseClosed } from '#domain/shared/features/gates.ts';
import { newId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { parseDuration } from '#domain/shared/values/durations.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Masked } from '#domain/shared/values/masked.ts';
import { type ApprovalPolicy, stricterApproval, strictestPolicy } from '#domain/shared/vocabulary/approval.ts';
import { defaultPool } from '#domain/shared/vocabulary/pools.ts';
import type { RunOperation, RunTimeouts } from '#domain/shared/vocabulary/runs.ts';
import type { WantedTool } from '#domain/tools/model.ts';
import { defaultTimeouts } from '../model.ts';
import { toStoredOptions } from '../options/model.ts';
import { refuseOptions } from '../options/rules.ts';
import { showReads } from '../references/model.ts';
import { refuseEndedReads } from '../references/recheck.ts';
import { raiseSecrets } from '../references/secret-outputs.ts';
import type { VariableReset } from '../reset-model.ts';
import { type RunInputs, sealInputs, showSources } from './inputs/inputs.ts';
import type { ResolvedRun, RunRequest } from './run-request.ts';
import type { AdmissionTarget } from './target.ts';
import { readToolDemand } from './tool-demand.ts';

/**
 * Builds a run from its version, its inputs and its target. The settings say what version and environment leave open.
 * @throws FeatureDisabled if it needs connections and they are turned off; Unprocessable if the settings allow no tool that could run it,
 * if a connection that the version needs cannot be used, or if it repeats a read that is not allowed any longer
 */
export async function buildRun(
  em: Em,
  keyRing: KeyRing,
  target: AdmissionTarget,
  version: PublishedVersion,
  request: Omit<RunRequest, 'variables' | 'version'> & {
    instance: string;
    shown: Record<string, JsonValue | Masked>;
    inputs: RunInputs;
    requeuedFrom: string | null;
    toolSwitch?: WantedTool;
    variableResets?: readonly VariableReset[];
  },
): Promise<ResolvedRun> {
  const { spec } = version;
  const { document: settings } = await readSettings(em);
  if (!isAlwaysAllowed(request.operation)) refuseOtherTools(settings.allowed_tools, spec, version.filesTools);
  const options = request.options ? toStoredOptions(request.options) : null;
  const { operation, replace } = request;
  await checkConnections(em, spec, target, settings);
  const inputs = await raiseSecrets(em, request.inputs);
  const reads = showReads(inputs.reads ?? []);
  await refuseEndedReads(em, target, operation, reads);
  const { instance, toolSwitch } = request;
  const toolDemand = await readToolDemand(em, { target, version, instance, operation, toolSwitch });
  refuseOptions({ spec, target, demand: toolDemand }, { operation, options, replace });
  const id = newId();
  return {
    id,
    templateVersionId: version.id,
    templateVersion: version.version,
    operation,
    replace: [...replace],
    options,
    instance: request.instance,
    variables: maskNamed(request.shown, inputs.sensitive),
    variableSources: showSources(inputs),
    reads,
    variableResets: request.variableResets ?? [],
    sealedInputs: sealInputs(keyRing, id, inputs),
    message: request.message,
    pool: spec.pool ?? settings.default_pool ?? defaultPool,
    toolDemand,
    toolSwitch: toolSwitch ?? null,
    retrySafe: spec.retry_safe,
    timeouts: readTimeouts(spec),
    approval: strictestPolicy(policyOfRun(spec, target.approval, settings), request.approval ?? null),
    requeuedFrom: request.requeuedFrom,
  };
}

/** Masks the values that have become secret since the run that this one repeats. */
function maskNamed(
  shown: Record<string, JsonValue | Masked>,
  names: readonly string[],
): Record<string, JsonValue | Masked> {
  const masked = names.filter((name) => Object.hasOwn(shown, name)).map((name) => [name, { sensitive: true }] as const);
  return { ...shown, ...Object.fromEntries(masked) };
}

/** The claim of each attempt checks the connections again, with their rows locked. */
async function checkConnections(
  em: Em,
  { connections = [] }: TemplateSpec,
  target: AdmissionTarget,
  { features }: SettingsDocument,
): Promise<void> {
  if (connections.length === 0) return;
  refuseClosed('connections', readClosedFeatures(features ?? {}));
  await resolveConnections(em, connections, target, false);
}

/** A scan and a destroy may always use the tool that deployed the instance, even if the settings no longer allow it. */
function isAlwaysAllowed(operation: RunOperation): boolean {
  return operation === 'destroy' || operation === 'scan';
}

/**
 * The policy of a run by its template and its environment. Every environment has a policy; the policy of the settings applies to runs
 * without an environment.
 */
export function policyOfRun(
  { approval }: Pick<TemplateSpec, 'approval'>,
  environment: ApprovalPolicy | null,
  settings: SettingsDocument,
): ApprovalPolicy {
  if (approval === undefined && environment === null) return settings.default_approval_policy ?? usualApproval;
  return stricterApproval(approval ?? null, environment);
}

function readTimeouts({ timeouts = {} }: TemplateSpec): RunTimeouts {
  const seconds = (text: string | undefined, otherwise: number) => (text && parseDuration(text)) || otherwise;
  return {
    plan: seconds(timeouts.plan, defaultTimeouts.plan),
    approval: seconds(timeouts.approval, defaultTimeouts.approval),
    apply: seconds(timeouts.apply, defaultTimeouts.apply),
  };
}
