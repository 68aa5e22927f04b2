import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import { resolveConnections } from '#domain/connections/bindings/resolve.ts';
import { type ApprovalPolicy, stricterApproval, strictestPolicy } from '#domain/registry/approval/approval-policy.ts';
import { VariableEvaluator } from '#domain/registry/evaluation/variable-evaluator.ts';
import type { PublishedVersion } from '#domain/registry/published.ts';
import type { TemplateSpec } from '#domain/registry/spec.ts';
import { maskVariables, mergeVariables, secretNames } from '#domain/registry/variables/variables.ts';
import type { SettingsDocument } from '#domain/settings/document.ts';
import { usualApproval } from '#domain/settings/effective.ts';
import { readSettings } from '#domain/settings/store.ts';
import { refuseOtherTools } from '#domain/settings/tools.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import { readClosedFeatures, refuseClosed } from '#domain/shared/features/gates.ts';
import { newId } from '#domain/shared/ids.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { parseDuration } from '#domain/shared/values/durations.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { ToolDemand } from '#domain/tools/demand.ts';
import type { WantedTool } from '#domain/tools/model.ts';
import { type EnvironmentVariables, loadEnvironmentVariables } from '#domain/variables/loaded.ts';
import { defaultPool, defaultTimeouts, type Masked, type RunOperation, type RunTimeouts } from '../model.ts';
import { type RunOptions, toStoredOptions } from '../options/model.ts';
import { refuseOptions } from '../options/rules.ts';
import { copyReads, type OutputRead, type SealedRead, showReads } from '../references/model.ts';
import { refuseEndedReads } from '../references/recheck.ts';
import { resolveRemoteStates } from '../references/remote-states.ts';
import { resolveReferences } from '../references/resolve-references.ts';
import { secretHashOf } from './compared-inputs.ts';
import { chooseVersion, type Deployment, findDeployment, inheritFrom, isGivenOtherwise } from './deployment.ts';
import { type RunInputs, sealInputs } from './inputs.ts';
import { type ShownSource, showSources, sourcesOf } from './sources.ts';
import type { AdmissionTarget } from './target.ts';
import { readToolDemand } from './tool-demand.ts';

export interface RunRequest {
  /** Undefined: the version of the source or, for a destroy, of the deployment; the latest for everything else. */
  readonly version: string | undefined;
  readonly instance?: string | undefined;
  readonly operation: RunOperation;
  readonly replace: readonly string[];
  readonly options?: RunOptions | null | undefined;
  readonly variables: Record<string, JsonValue>;
  /**
   * The variables are as whoever asks for the run wrote them, so references to outputs of instances are resolved. Otherwise they are values, and a text
   * that looks like a reference is that text: it may come from an output.
   */
  readonly resolvesReferences?: boolean;
  /** What these values were given of the outputs of other instances. */
  readonly reads?: readonly SealedRead[];
  readonly message: string;
  /** Names of variables that are secret whatever the template says. */
  readonly sensitive?: readonly string[];
  /** A policy that counts beside those of template and environment. */
  readonly approval?: ApprovalPolicy | null;
  /** The run from which a copy takes version and variables. */
  readonly source?: RunSource;
}

interface RunSource {
  readonly runId: string;
  readonly deployment: Deployment;
  /** Whether the copy names another instance or omits variables. */
  readonly isChanged: boolean;
}

/** A run that is ready to be admitted: its version is chosen, and its inputs are complete, valid and sealed. */
export interface ResolvedRun {
  readonly id: string;
  readonly templateVersionId: string;
  readonly templateVersion: string;
  readonly operation: RunOperation;
  readonly replace: string[];
  readonly options: RunOptions | null;
  readonly instance: string;
  readonly variables: Record<string, JsonValue | Masked>;
  readonly variableSources: ShownSource[];
  readonly reads: OutputRead[];
  readonly sealedInputs: Buffer;
  readonly message: string;
  readonly pool: string;
  /** The tools that it may use; null for commands. */
  readonly toolDemand: ToolDemand | null;
  /** The tool to which it switches its instance; null: none. */
  readonly toolSwitch: WantedTool | null;
  readonly retrySafe: boolean;
  readonly timeouts: RunTimeouts;
  readonly approval: ApprovalPolicy;
  readonly requeuedFrom: string | null;
}

export interface ResolveDeps {
  readonly keyRing: KeyRing;
  readonly evaluator: Evaluator;
}

/**
 * Resolves a request to a run: chooses the version, fills in and checks the variables, and seals the inputs. A destroy takes
 * the version and the variables that it does not name from the deployment that it removes, and a copy from its source (`inheritFrom`).
 * @throws Unprocessable naming everything that is wrong with the variables or with references in them, or an operation that the template does not support
 */
export async function resolveRun(
  tx: Transaction,
  { keyRing, evaluator }: ResolveDeps,
  target: AdmissionTarget,
  request: RunRequest,
  requester: Principal,
): Promise<ResolvedRun> {
  const { em } = tx;
  const instance = request.instance ?? target.templateSlug;
  const { source } = request;
  const { version, deployment } = await chooseSupported(em, keyRing, target, { ...request, instance });
  const environment = target.environmentId
    ? await loadEnvironmentVariables(em, keyRing, target.environmentId)
    : { template: {}, env: [] };
  const schema = version.spec.variables;
  const repeated = mergeInputs(schema, environment, deployment, request);
  const isChanged =
    source &&
    (source.isChanged || isGivenOtherwise(source.deployment.inputs, repeated, secretHashOf(keyRing, source.runId)));
  const inherited = deployment && inheritFrom(deployment, version, request.variables, isChanged ?? false);
  const merged = mergeInputs(schema, environment, inherited, request);
  const referred = await readReferences(em, keyRing, target, { given: merged, inherited, request });
  const given = await readRemoteStates(em, keyRing, target, { given: referred, version, request, inherited });
  const { valid, errors, variables } = await tx.awaitOutside(JSON.stringify([version.id, given]), () =>
    new VariableEvaluator(evaluator, requester.id).validate(schema, given.variables, given.sensitive),
  );
  if (!valid) throw new Unprocessable(describeInvalid(errors), { code: 'variables_invalid', details: { errors } });
  const inputs = { ...given, variables, sensitive: [...new Set([...secretNames(schema), ...given.sensitive])] };
  return buildRun(em, keyRing, target, version, {
    ...request,
    instance,
    shown: maskVariables(schema, inputs.variables, inputs.sensitive),
    inputs,
    requeuedFrom: source?.runId ?? null,
  });
}

/**
 * The version that a request names or means, and the deployment from which the run takes what the request does not name.
 * @throws Unprocessable if there is no such version, or if it does not support the operation
 */
export async function chooseSupported(
  em: Em,
  keyRing: KeyRing,
  target: AdmissionTarget,
  request: RunRequest & { readonly instance: string },
): Promise<{ readonly version: PublishedVersion; readonly deployment: Deployment | null }> {
  const { source } = request;
  const isDestroy = request.operation === 'destroy';
  const removed = isDestroy && !source ? await findDeployment(em, keyRing, target, request.instance) : null;
  const deployment = source?.deployment ?? removed;
  const version = await chooseVersion(em, target, request.version, deployment);
  refuseUnsupported(version.spec, request);
  return { version, deployment };
}

/** What a run is given before defaults are filled in: its own values take precedence over those of the deployment, and these over the environment's. */
function mergeInputs(
  schema: TemplateSpec['variables'],
  environment: EnvironmentVariables,
  deployment: Deployment | null,
  { variables: requested, sensitive: named = [] }: Pick<RunRequest, 'variables' | 'sensitive'>,
): RunInputs {
  const inherited = Object.entries(environment.template);
  const variables = mergeVariables(schema, {
    environment: Object.fromEntries(inherited.map(([name, { value }]) => [name, value])),
    deployment: deployment?.inputs.variables ?? {},
    run: requested,
  });
  const sensitive = [
    ...inherited.filter(([, { sensitive }]) => sensitive).map(([name]) => name),
    ...(deployment?.inputs.sensitive ?? []),
    ...named,
  ];
  const sources = sourcesOf(environment.template, deployment?.inputs, requested);
  return { variables, sensitive, sources, environment: environment.env };
}

/** Puts outputs in the places of references: in what the request wrote, and in what the environment gives. What a deployment had was resolved for it. */
async function readReferences(
  em: Em,
  keyRing: KeyRing,
  target: AdmissionTarget,
  {
    given,
    inherited,
    request,
  }: { readonly given: RunInputs; readonly inherited: Deployment | null; readonly request: RunRequest },
): Promise<RunInputs> {
  const isRequested = (name: string) => Object.hasOwn(request.variables, name);
  const isInherited = (name: string) => !isRequested(name) && Object.hasOwn(inherited?.inputs.variables ?? {}, name);
  const isWritten = (name: string) => (isRequested(name) ? (request.resolvesReferences ?? false) : !isInherited(name));
  const written = Object.entries(given.variables).filter(([name]) => isWritten(name));
  const resolved = await resolveReferences(em, keyRing, target, Object.fromEntries(written));
  // Whoever names the value that the deployment has repeats what it read.
  const isNamedAgain = (name: string) =>
    isRequested(name) && isDeepStrictEqual(request.variables[name], inherited?.inputs.variables[name]);
  const isRepeated = (name: string) => isInherited(name) || isNamedAgain(name);
  const repeated = copyReads(inherited?.inputs.reads).filter(({ variable }) => isRepeated(variable));
  const reads = [...repeated, ...(request.reads ?? []), ...resolved.reads];
  return {
    ...given,
    variables: { ...given.variables, ...resolved.variables },
    sensitive: [...given.sensitive, ...resolved.sensitive],
    ...(reads.length > 0 && { reads }),
  };
}

/** A destroy that repeats the deployment removes it with the states that it was deployed with. Every other run reads them anew. */
async function readRemoteStates(
  em: Em,
  keyRing: KeyRing,
  target: AdmissionTarget,
  work: {
    readonly given: RunInputs;
    readonly version: PublishedVersion;
    readonly request: RunRequest;
    readonly inherited: Deployment | null;
  },
): Promise<RunInputs> {
  const { given, version, request, inherited } = work;
  const wanted = version.spec.remote_states ?? {};
  if (Object.keys(wanted).length === 0) return given;
  const deployed = request.operation === 'destroy' ? inherited?.inputs : undefined;
  if (deployed?.remoteStates) {
    const reads = copyReads(deployed.reads).filter(({ variable }) => variable.startsWith('data.'));
    return { ...given, remoteStates: deployed.remoteStates, reads: [...(given.reads ?? []), ...reads] };
  }
  const { states, reads } = await resolveRemoteStates(em, keyRing, target, wanted);
  return { ...given, remoteStates: states, reads: [...(given.reads ?? []), ...reads] };
}

/**
 * Builds a run from its version, its inputs and its target. The settings say what version and environment leave open.
 * @throws FeatureDisabled if it needs connections and they are turned off; Unprocessable if the settings allow no tool that could run it, if a connection that the version needs cannot be used, or if it repeats a read that is not allowed any longer
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
  },
): Promise<ResolvedRun> {
  const { spec } = version;
  const { document: settings } = await readSettings(em);
  if (!isAlwaysAllowed(request.operation)) refuseOtherTools(settings.allowed_tools, spec);
  const options = request.options ? toStoredOptions(request.options) : null;
  const { operation, replace } = request;
  await checkConnections(em, spec, target, settings);
  const reads = showReads(request.inputs.reads ?? []);
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
    variables: request.shown,
    variableSources: showSources(request.inputs),
    reads,
    sealedInputs: sealInputs(keyRing, id, request.inputs),
    message: request.message,
    pool: spec.pool ?? settings.default_pool ?? defaultPool,
    toolDemand,
    toolSwitch: toolSwitch ?? null,
    retrySafe: spec.retry_safe,
    timeouts: readTimeouts(spec),
    approval: strictestPolicy(choosePolicy(spec, target, settings), request.approval ?? null),
    requeuedFrom: request.requeuedFrom,
  };
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

/** What exists can be looked at and removed by whatever made it. */
function isAlwaysAllowed(operation: RunOperation): boolean {
  return operation === 'destroy' || operation === 'scan';
}

/** An environment has a policy from its beginning. That of the settings is for runs without an environment. */
function choosePolicy({ approval }: TemplateSpec, target: AdmissionTarget, settings: SettingsDocument): ApprovalPolicy {
  if (approval === undefined && target.approval === null) return settings.default_approval_policy ?? usualApproval;
  return stricterApproval(approval ?? null, target.approval);
}

function refuseUnsupported({ executor }: TemplateSpec, { operation, replace }: RunRequest): void {
  if (replace.length > 0 && (executor.kind !== 'opentofu' || operation !== 'apply')) {
    throw new Unprocessable('replace: only an apply of an OpenTofu template can replace resources by address', {
      code: 'operation_unsupported',
    });
  }
  if (executor.kind !== 'command') return;
  if (operation === 'destroy' && !executor.destroy) {
    throw new Unprocessable('operation: the template has no destroy steps, so it cannot be destroyed', {
      code: 'operation_unsupported',
    });
  }
  if (operation === 'refresh')
    throw new Unprocessable('operation: only an OpenTofu template can refresh its state', {
      code: 'operation_unsupported',
    });
}

function describeInvalid(errors: readonly { path: string; message: string }[]): string {
  return `variables: ${errors.map(({ path, message }) => `${path || '/'} ${message}`).join('; ')}`;
}

function readTimeouts({ timeouts = {} }: TemplateSpec): RunTimeouts {
  const seconds = (text: string | undefined, otherwise: number) => (text && parseDuration(text)) || otherwise;
  return {
    plan: seconds(timeouts.plan, defaultTimeouts.plan),
    approval: seconds(timeouts.approval, defaultTimeouts.approval),
    apply: seconds(timeouts.apply, defaultTimeouts.apply),
  };
}
