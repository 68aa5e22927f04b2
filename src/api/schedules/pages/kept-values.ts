import { describeInherited, describeRotated, type InheritedValues } from '#api/environments/pages/inherited.ts';
import { givenTo } from '#api/registry/pages/run/compared.ts';
import { type DeployedFacts, readReplaced } from '#api/registry/pages/run/deployed.ts';
import { renderDeployed } from '#api/registry/pages/run/deployed-view.ts';
import { findRotatedSecrets, findSecretsOfOthers } from '#api/registry/pages/run/target.ts';
import { describeKeptSecret } from '#api/registry/pages/run/variable-fields.ts';
import { get as getTemplate } from '#api/registry/template-operations.ts';
import { slots } from '#api/web/forms/schema/slots.ts';
import type { Html } from '#api/web/html.ts';
import { orNull } from '#api/web/visit/or-null.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';

/** The choices in a schedule's form that decide which values a start keeps. */
export interface ChosenStart {
  readonly templateId: string;
  readonly environmentId: string;
  readonly instance: string;
  readonly operation: string;
  /** `deployed`: variables left empty keep the deployed values. */
  readonly variablesFrom: string;
  /** The deployed variables that a start leaves out. */
  readonly omit: readonly string[];
}

/** The texts beside the variables of a schedule. */
interface StartedVariables {
  /** The variables. Those that a start keeps are optional. */
  readonly schema: JsonObject;
  /** For variables that are left empty: what applies instead, by slot. */
  readonly inherited: ReadonlyMap<string, string>;
  /** The deployed value of each variable, by slot. */
  readonly comparisons: ReadonlyMap<string, Html>;
}

/** Reads which values a start of the schedule uses for variables that are left empty. */
export async function readStartedVariables(
  visit: Visit,
  chosen: ChosenStart,
  { schema, given }: { readonly schema: JsonObject; readonly given: InheritedValues },
): Promise<StartedVariables> {
  const described = describeInherited(given);
  const deployed = chosen.operation === 'destroy' ? null : await readDeployed(visit, chosen);
  if (!deployed) return { schema, inherited: described, comparisons: new Map() };
  const names = Object.keys((schema['properties'] ?? {}) as JsonObject);
  const comparisons = names.flatMap((name): [string, Html][] => {
    const comparison = renderDeployed(deployed, name);
    return comparison ? [[slots.member('', name), comparison]] : [];
  });
  const kept =
    chosen.variablesFrom === 'deployed' ? await describeKeptValues(visit, chosen, { deployed, schema, given }) : [];
  const { required } = schema;
  const isNeeded = (name: unknown) => !kept.some((each) => each.name === name && each.isKept);
  return {
    schema: Array.isArray(required) ? { ...schema, required: required.filter(isNeeded) } : schema,
    inherited: new Map([...described, ...kept.map(({ name, text }) => [slots.member('', name), text] as const)]),
    comparisons: new Map(comparisons),
  };
}

async function readDeployed(visit: Visit, { templateId, environmentId, instance }: ChosenStart) {
  const template = templateId === '' ? null : await orNull(visit.read(getTemplate, { params: { id: templateId } }));
  return template && readReplaced(visit, { templateId, environmentId, name: instance || template.slug });
}

interface KeptValue {
  readonly name: string;
  readonly text: string;
  /** False if the environment has rotated it, so that a start gets it from there. */
  readonly isKept: boolean;
}

/** Says what a start does with each deployed variable that is left empty. A variable that has no value any longer is not in the list. */
async function describeKeptValues(
  visit: Visit,
  { environmentId, omit }: ChosenStart,
  work: { readonly deployed: DeployedFacts; readonly schema: JsonObject; readonly given: InheritedValues },
): Promise<KeptValue[]> {
  const { deployed, schema, given } = work;
  const rotated = await findRotatedSecrets(visit, deployed, environmentId, schema);
  const ofOthers = await findSecretsOfOthers(visit, deployed.run, false);
  const sources = givenTo(deployed.run);
  return [...Object.keys(deployed.values), ...deployed.secrets].flatMap((name): KeptValue[] => {
    if (omit.includes(name)) return [];
    const now = given.get(slots.member('', name));
    if (rotated.includes(name)) return now ? [{ name, text: describeRotated(now), isKept: false }] : [];
    const isSecret = deployed.secrets.includes(name);
    const text = isSecret
      ? describeKeptSecret(now, { wasGiven: sources.includes(name), isOfOther: ofOthers.includes(name) })
      : keptWords;
    return [{ name, text, isKept: true }];
  });
}

const keptWords = 'Left empty, the deployed value is kept';
