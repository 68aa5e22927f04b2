import { isDeepStrictEqual } from 'node:util';
import type { Em } from '#database/database.ts';
import type { PublishedVersion } from '#domain/registry/publication/published.ts';
import type { TemplateSpec } from '#domain/registry/spec.ts';
import { mergeVariables } from '#domain/registry/variables/variables.ts';
import { propertiesOf } from '#domain/registry/variables/walk.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { convertToType } from '#domain/sources/hcl/conversions.ts';
import type { EnvironmentVariables } from '#domain/variables/loaded.ts';
import { hasReferences } from '#domain/variables/reference-syntax.ts';
import { copyReads, dataSourceOf } from '../../references/model.ts';
import { resolveRemoteStates } from '../../references/remote-states.ts';
import { resolveReferences } from '../../references/resolve-references.ts';
import type { SourceOutputs } from '../../references/source-outputs.ts';
import type { Deployment } from '../deployment.ts';
import type { RunRequest } from '../run-request.ts';
import type { AdmissionTarget } from '../target.ts';
import { type RunInputs, sourcesOf } from './inputs.ts';

/**
 * The inputs of a run before defaults are filled in. Its own values take precedence over those of the deployment, and these over those of
 * the environment.
 */
export function mergeInputs(
  schema: TemplateSpec['variables'],
  environment: EnvironmentVariables,
  deployment: Deployment | null,
  { variables: requested, sensitive: named = [] }: Pick<RunRequest, 'variables' | 'sensitive'>,
): RunInputs {
  const inherited = Object.entries(environment.template);
  const variables = mergeVariables(schema, {
    environment: defaultsOf(schema, environment.template),
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

/**
 * Replaces references by outputs, in the values of the request and of the environment. The values of a deployment were resolved when it was
 * deployed.
 */
export async function readReferences(
  em: Em,
  opened: SourceOutputs,
  target: AdmissionTarget,
  {
    given,
    inherited,
    request,
  }: { readonly given: RunInputs; readonly inherited: Deployment | null; readonly request: RunRequest },
): Promise<RunInputs> {
  const isDestroyAsDeployed = request.operation === 'destroy' && inherited !== null;
  const isRequested = (name: string) => Object.hasOwn(request.variables, name);
  const isInherited = (name: string) => !isRequested(name) && Object.hasOwn(inherited?.inputs.variables ?? {}, name);
  const isWritten = (name: string) => (isRequested(name) ? (request.resolvesReferences ?? false) : !isInherited(name));
  const isNeeded = (name: string) => !isDestroyAsDeployed || isRequested(name) || isInherited(name);
  // A destroy leaves out references that the environment has added since the deployment: they may no longer resolve.
  const isLeftOut = (name: string, value: JsonValue) => !isNeeded(name) && hasReferences(value);
  const kept = Object.entries(given.variables).filter(([name, value]) => !isLeftOut(name, value));
  const written = kept.filter(([name]) => isWritten(name));
  const resolved = await resolveReferences(em, opened, target, Object.fromEntries(written));
  // A request that names the deployed value repeats the read that gave that value.
  const isNamedAgain = (name: string) =>
    isRequested(name) && isDeepStrictEqual(request.variables[name], inherited?.inputs.variables[name]);
  const isRepeated = (name: string) => isInherited(name) || isNamedAgain(name);
  const repeated = copyReads(inherited?.inputs.reads).filter(({ variable }) => isRepeated(variable));
  const reads = [...repeated, ...(request.reads ?? []), ...resolved.reads];
  return {
    ...given,
    variables: { ...Object.fromEntries(kept), ...resolved.variables },
    sensitive: [...given.sensitive, ...resolved.sensitive],
    ...(reads.length > 0 && { reads }),
  };
}

/** A destroy that repeats the deployment removes it with the states that it was deployed with. Every other run reads them again. */
export async function readRemoteStates(
  em: Em,
  opened: SourceOutputs,
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
    const reads = copyReads(deployed.reads).filter((read) => dataSourceOf(read) !== null);
    return { ...given, remoteStates: deployed.remoteStates, reads: [...(given.reads ?? []), ...reads] };
  }
  const { states, reads } = await resolveRemoteStates(em, opened, target, wanted);
  return { ...given, remoteStates: states, reads: [...(given.reads ?? []), ...reads] };
}

/** The defaults that an environment gives to the variables of a template, as a run of the template gets them. */
export function defaultsOf(
  schema: TemplateSpec['variables'],
  template: EnvironmentVariables['template'],
): Record<string, JsonValue> {
  const values = Object.entries(template).map(
    ([name, { value }]) => [name, convertDefault(schema, name, value)] as const,
  );
  return Object.fromEntries(values);
}

/**
 * Converts a default of the environment to the type of the variable, because people often enter it without knowing that type. A password of
 * digits becomes text, and "3" becomes a number if the template declares one. The tools convert such values in the same way.
 */
export function convertDefault(schema: TemplateSpec['variables'], name: string, value: JsonValue): JsonValue {
  const declared = propertiesOf(schema)[name];
  const types = typeof declared === 'object' && declared !== null && 'type' in declared ? [declared.type].flat() : [];
  const [type, ...others] = types.filter((each) => each !== 'null');
  if (value === null || others.length > 0) return value;
  if (type !== 'string' && type !== 'number' && type !== 'integer' && type !== 'boolean') return value;
  return convertToType(value, { type: type === 'integer' ? 'number' : type }) ?? value;
}
