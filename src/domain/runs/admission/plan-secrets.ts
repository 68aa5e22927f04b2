import type { Em } from '#database/database.ts';
import { readEphemeralVariables } from '#domain/registry/ephemeral-variables.ts';
import { type PublishedVersion, readFiles } from '#domain/registry/published.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import { planGetsSecret } from '#domain/variables/plan-value-rules.ts';
import type { RunInputs } from './inputs.ts';
import type { AdmissionTarget } from './target.ts';

/**
 * A plan runs code that its requester may choose, and nobody has approved it: it can print every secret that it gets. An environment may demand that planning
 * gets weaker ones.
 * @throws Unprocessable naming the secrets that planning would get as applying does
 */
export async function refuseStrongPlanSecrets(
  em: Em,
  { planSecrets }: Pick<AdmissionTarget, 'planSecrets'>,
  version: PublishedVersion,
  inputs: RunInputs,
): Promise<void> {
  if (planSecrets === null) return;
  const ofTools = inputs.environment
    .filter((variable) => planGetsSecret({ ...variable, hasPlanValue: variable.planValue !== undefined }))
    .map(({ name }) => name);
  const given = [...new Set(inputs.sensitive)].filter((name) => (inputs.variables[name] ?? null) !== null);
  const ephemeral = given.length > 0 ? await readEphemeral(em, version) : new Set<string>();
  const ofTemplate = given.filter((name) => !ephemeral.has(name));
  if (ofTools.length + ofTemplate.length === 0) return;
  throw new Unprocessable(describe(ofTools, ofTemplate), {
    code: 'plan_secrets_required',
    details: { errors: [...ofTools, ...ofTemplate].map((name) => ({ name })) },
  });
}

async function readEphemeral(em: Em, { id, spec: { executor } }: PublishedVersion): Promise<ReadonlySet<string>> {
  if (executor.kind === 'command') return new Set();
  return readEphemeralVariables(await readFiles(em, id), executor.git?.path);
}

function describe(ofTools: readonly string[], ofTemplate: readonly string[]): string {
  const demand = 'the environment demands that planning gets weaker secrets than applying, or none';
  const tools = `give ${ofTools.join(', ')} another value for planning (plan_value), or while applying only (phases)`;
  const template = `variables of the template are part of what is planned, so the template must declare ${ofTemplate.join(', ')} as ephemeral, or leave it out`;
  return `${demand}: ${[...(ofTools.length > 0 ? [tools] : []), ...(ofTemplate.length > 0 ? [template] : [])].join('; ')}`;
}
