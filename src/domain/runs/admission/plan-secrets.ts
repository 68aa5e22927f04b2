import type { Em } from '#database/database.ts';
import { readEphemeralVariables } from '#domain/registry/ephemeral-variables.ts';
import { type PublishedVersion, readFiles } from '#domain/registry/published.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import { planGetsSecret } from '#domain/variables/plan-value-rules.ts';
import type { Deployment } from './deployment.ts';
import type { EnvironmentInput, RunInputs } from './inputs.ts';
import type { RunRequest } from './run-request.ts';
import type { AdmissionTarget } from './target.ts';

/** What gave a run its variables, as far as the remedies need it. Without a request, it repeats a run exactly. */
interface Planned {
  readonly version: PublishedVersion;
  readonly inputs: RunInputs;
  readonly request?: RunRequest;
  readonly inherited?: Deployment | null;
}

/**
 * A plan runs code that its requester may choose, and nobody has approved it: it can print every secret that it gets. An environment may demand that planning
 * gets weaker ones.
 * @throws Unprocessable naming the secrets that planning would get as applying does
 */
export async function refuseStrongPlanSecrets(
  em: Em,
  { planSecrets }: Pick<AdmissionTarget, 'planSecrets'>,
  planned: Planned,
): Promise<void> {
  if (planSecrets === null) return;
  const { version, inputs } = planned;
  const ofTools = inputs.environment
    .filter((variable) => planGetsSecret({ ...variable, hasPlanValue: hasOtherPlanValue(variable) }))
    .map(({ name }) => name);
  const given = [...new Set(inputs.sensitive)].filter((name) => (inputs.variables[name] ?? null) !== null);
  const ephemeral = given.length > 0 ? await readEphemeral(em, version) : new Set<string>();
  const ofTemplate = given.filter((name) => !ephemeral.has(name));
  const errors = [
    ...ofTools.map((name) => ({ path: '', message: `${name}: ${remedyOfTools}` })),
    ...ofTemplate.map((name) => ({
      path: `/${escapePointer(name)}`,
      message: `${name}: ${remedyOf(originOf(name, planned), name)}`,
    })),
  ];
  if (errors.length === 0) return;
  const demand = 'the environment demands that planning gets weaker secrets than applying, or none';
  const message = `${demand}: ${errors.map(({ message }) => message).join('; ')}`;
  throw new Unprocessable(message, { code: 'plan_secrets_required', details: { errors } });
}

/** A second value that is the same secret keeps nothing from planning. */
function hasOtherPlanValue({ value, planValue }: EnvironmentInput): boolean {
  return planValue !== undefined && planValue !== value;
}

async function readEphemeral(em: Em, { id, spec: { executor } }: PublishedVersion): Promise<ReadonlySet<string>> {
  if (executor.kind === 'command') return new Set();
  return readEphemeralVariables(await readFiles(em, id), executor.git?.path);
}

const remedyOfTools = 'give it another value for planning (plan_value), or give it while applying only (phases)';

type Origin = 'request' | 'destroy' | 'source' | 'environment' | 'repeated';

/** From where a run has a secret variable of its template. */
function originOf(name: string, { inputs: { sources = {} }, request, inherited }: Planned): Origin {
  if (!request) return 'repeated';
  if (Object.hasOwn(request.variables, name)) return 'request';
  if (Object.hasOwn(inherited?.inputs.variables ?? {}, name)) return request.source ? 'source' : 'destroy';
  return Object.hasOwn(sources, name) ? 'environment' : 'request';
}

/** What helps, which depends on what gave the variable: only a variable that the request names can be left out of it. */
function remedyOf(origin: Origin, name: string): string {
  const planned =
    'is a secret variable of the template, which is part of what is planned: the template must declare it as ephemeral';
  const others = {
    request: 'or leave it out',
    source: 'or name it in omit',
    environment: 'or remove it from the variables that the environment gives',
    repeated: 'or copy the run and name it in omit',
    destroy:
      `and the destroy must name that version and ${name}, since this one takes it from what is deployed; or set plan_secrets of the environment to null ` +
      'while you destroy',
  };
  return `${planned}, ${others[origin]}`;
}
