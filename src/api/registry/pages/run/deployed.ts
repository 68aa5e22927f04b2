import { isDeepStrictEqual } from 'node:util';
import { get as getInstance } from '#api/instances/operations.ts';
import { getRun } from '#api/runs/operations.ts';
import type { ObjectNode } from '#api/web/forms/schema/plan/node.ts';
import { planForm } from '#api/web/forms/schema/plan/plan.ts';
import { fillVariables, readVariables } from '#api/web/forms/schema/variables.ts';
import { shorten } from '#api/web/forms/schema/view/hints.ts';
import { placeReferences } from '#domain/runs/references/place-references.ts';
import { digestOf } from '#domain/shared/values/digest.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { get as getVersion } from '../../version-operations.ts';
import { schemaOf } from '../version/variables-table.ts';
import type { RunFormVisit, SourceRun } from './form-visit.ts';

type Values = Readonly<Record<string, JsonValue>>;

/** What an instance is deployed with, from which a form starts. */
export interface DeployedFacts {
  readonly instance: { readonly id: string; readonly name: string };
  readonly environmentId: string | null;
  /** The run that deployed it. */
  readonly run: SourceRun;
  /** The variables that may be shown, with references in the places of what they came to. */
  readonly values: Values;
  /** The names of the secrets. */
  readonly secrets: readonly string[];
  /** The variables of the deployed version. */
  readonly root: ObjectNode;
}

/** Reads what the address says to start from; null if it names no instance, or one that is not deployed with this template. */
export async function readDeployed(visit: RunFormVisit): Promise<DeployedFacts | null> {
  const from = visit.query('from_instance');
  if (!from) return null;
  const instance = await visit.read(getInstance, { params: { id: from } });
  if (instance.deployed_run_id === null || instance.template_id !== visit.params.id) return null;
  const run = await visit.read(getRun, { params: { id: instance.deployed_run_id }, query: {} });
  if (run.operation === 'destroy' || run.prefill === null || run.template_id !== visit.params.id) return null;
  const { spec } = await visit.read(getVersion, { params: { id: run.template_id, version: run.template_version } });
  const { id, name, environment_id: environmentId } = instance;
  const { values, secrets } = withReferences(run);
  return { instance: { id, name }, environmentId, run, values, secrets, root: planForm(schemaOf(spec)) };
}

/** A variable that is a reference as a whole is no secret to type again, even where its output is one. */
function withReferences({ prefill, reads, variables }: SourceRun) {
  const open = (prefill?.variables ?? {}) as Values;
  const secrets = prefill?.secrets ?? [];
  const names = [...new Set(reads.map(({ variable }) => variable))].filter((name) => Object.hasOwn(variables, name));
  const placed = names.flatMap((name): [string, JsonValue][] => {
    const ofVariable = reads.filter(({ variable }) => variable === name);
    const whole = ofVariable.find(({ path }) => path === '');
    if (whole) return [[name, whole.reference]];
    return secrets.includes(name) ? [] : [[name, placeReferences(variables[name] as JsonValue, ofVariable)]];
  });
  const values = { ...open, ...Object.fromEntries(placed) };
  return { values, secrets: secrets.filter((name) => !Object.hasOwn(values, name)) };
}

/** What a form changes of what is deployed. */
export interface DeployedChanges {
  /** The values to send: those that are not as deployed. */
  readonly variables: Values;
  /** The variables that were emptied. */
  readonly omit: readonly string[];
}

/** Compares with what the form was filled in with, so that what a field cannot hold is no change. */
export function findChanges({ values, secrets }: DeployedFacts, root: ObjectNode, entered: Values): DeployedChanges {
  const { values: filled } = readVariables(root, fillVariables(root, values));
  const isChanged = (name: string) =>
    secrets.includes(name) || !Object.hasOwn(filled, name) || !isDeepStrictEqual(filled[name], entered[name]);
  return {
    variables: Object.fromEntries(Object.entries(entered).filter(([name]) => isChanged(name))),
    omit: Object.keys(filled).filter((name) => Object.hasOwn(values, name) && !Object.hasOwn(entered, name)),
  };
}

/** A difference between what is deployed and what the form asks for, in words. */
export interface Difference {
  readonly variable: string;
  readonly kind: 'changed' | 'emptied' | 'added' | 'dropped' | 'redefined';
  /** The deployed value and the new one, of a secret in words; null: there is none, or it must not be shown. */
  readonly before: string | null;
  readonly after: string | null;
}

export function findDifferences(deployed: DeployedFacts, root: ObjectNode, entered: Values): Difference[] {
  const { variables, omit } = findChanges(deployed, root, entered);
  const members = new Map(root.members.map((member) => [member.name, member]));
  const before = new Map(deployed.root.members.map((member) => [member.name, member]));
  const was = (name: string) => {
    if (deployed.secrets.includes(name)) return 'the deployed secret';
    return Object.hasOwn(deployed.values, name) ? shorten(deployed.values[name] ?? null) : null;
  };
  const isSecret = (name: string) => members.get(name)?.isSecret === true || deployed.secrets.includes(name);
  const after = (name: string, value: JsonValue) => (isSecret(name) ? 'a new secret' : shorten(value));
  const changed = Object.entries(variables).map(
    ([variable, value]): Difference => ({
      variable,
      kind: 'changed',
      before: was(variable),
      after: after(variable, value),
    }),
  );
  const emptied = omit.map(
    (variable): Difference => ({ variable, kind: 'emptied', before: was(variable), after: null }),
  );
  const named = new Set([...changed, ...emptied].map(({ variable }) => variable));
  const added = [...members.keys()]
    .filter((name) => !before.has(name) && !named.has(name))
    .map((variable): Difference => {
      const { default: value, isSecret: hidden } = members.get(variable) ?? {};
      return { variable, kind: 'added', before: null, after: value === undefined || hidden ? null : shorten(value) };
    });
  const dropped = [...Object.keys(deployed.values), ...deployed.secrets]
    .filter((name) => !members.has(name))
    .map((variable): Difference => ({ variable, kind: 'dropped', before: was(variable), after: null }));
  const redefined = [...members.values()]
    .filter(
      ({ name, schema }) =>
        before.has(name) && !named.has(name) && !isDeepStrictEqual(schema, before.get(name)?.schema),
    )
    .map(({ name }): Difference => ({ variable: name, kind: 'redefined', before: was(name), after: was(name) }));
  return [...changed, ...emptied, ...added, ...dropped, ...redefined];
}

/** What a form sends along, so that nobody starts a run whose differences they were not shown. */
export function differencesShown(version: string, differences: readonly Difference[]): string {
  return digestOf(Buffer.from(JSON.stringify([version, differences])));
}
