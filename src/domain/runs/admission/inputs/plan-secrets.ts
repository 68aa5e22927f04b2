import type { Em } from '#database/database.ts';
import { readEphemeralVariables } from '#domain/registry/publication/publication-check.ts';
import { type PublishedVersion, readFiles } from '#domain/registry/publication/published.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import { planGetsSecret } from '#domain/variables/plan-value-rules.ts';
import type { Deployment } from '../deployment.ts';
import type { RunRequest } from '../run-request.ts';
import type { AdmissionTarget } from '../target.ts';
import type { EnvironmentInput, RunInputs } from './inputs.ts';

/** The sources of a run's variables, as far as the remedies need them. Without a request, the run repeats another one exactly. */
interface Planned {
  readonly version: PublishedVersion;
  readonly inputs: RunInputs;
  readonly request?: RunRequest;
  readonly inherited?: Deployment | null;
}

/**
 * Refuses a run whose plan would get the secrets for applying, if its environment demands weaker ones. A plan runs code that its requester
 * may choose and that nobody has approved: it can print every secret that it gets.
 * @throws Unprocessable naming the secrets that planning would share with applying
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

/** Whether planning gets another value. A value for planning that equals the one for applying protects nothing. */
function hasOtherPlanValue({ value, planValue }: EnvironmentInput): boolean {
  return planValue !== undefined && planValue !== value;
}

async function readEphemeral(em: Em, { id, spec: { executor } }: PublishedVersion): Promise<ReadonlySet<string>> {
  if (executor.kind === 'command') return new Set();
  return readEphemeralVariables(await readFiles(em, id), executor.git?.path);
}

const remedyOfTools = 'give it another value for planning (plan_value), or give it while applying only (phases)';

type Origin = 'request' | 'destroy' | 'source' | 'environment' | 'repeated';

/** Where a run got a secret variable of its template. */
function originOf(name: string, { inputs: { sources = {} }, request, inherited }: Planned): Origin {
  if (!request) return 'repeated';
  if (Object.hasOwn(request.variables, name)) return 'request';
  if (Object.hasOwn(inherited?.inputs.variables ?? {}, name)) return request.source ? 'source' : 'destroy';
  return Object.hasOwn(sources, name) ? 'environment' : 'request';
}

/** What the requester can do, which depends on the source of the variable: only a variable that the request names can be left out of it. */
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
