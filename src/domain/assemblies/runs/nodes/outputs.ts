import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { maskOutputs } from '#domain/instances/state/state.ts';
import { outputsContext } from '#domain/runs/attempts/seals.ts';
import type { MaskedOutputs } from '#domain/runs/model.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { AssemblyNode, AssemblyRun } from '../../entity.ts';
import { lendsOutputs, operationRules } from '../../model.ts';
import { ReferenceBudget } from '../../spec/reference-budget.ts';
import {
  findReferences,
  type Known,
  type Reference,
  ReferenceFailed,
  resolveReferences,
} from '../../spec/references.ts';
import { findVersionSpec } from '../admission/published.ts';
import { type AssemblyVariables, openVariables } from '../admission/variables.ts';

/** The outputs of nodes, secrets included, by the keys of the nodes. A node that has none yet is missing. */
export type NodeOutputs = ReadonlyMap<string, MaskedOutputs>;

/**
 * Reads the outputs that the instances of nodes have now. They never leave the domain: what is made of them is sealed in the run of
 * a node, and masked in answers.
 */
export async function readNodeOutputs(
  em: Em,
  keyRing: KeyRing,
  { environmentId }: Pick<AssemblyRun, 'environmentId'>,
  nodes: readonly Pick<AssemblyNode, 'key' | 'instance' | 'templateId'>[],
): Promise<NodeOutputs> {
  if (nodes.length === 0) return new Map();
  const rows = await db(em)
    .selectFrom('instances as i')
    .innerJoin('runs as deployed', 'deployed.id', 'i.deployed_run_id')
    .where('i.environment_id', '=', environmentId)
    .where('i.deleted_at', 'is', null)
    .where('i.name', 'in', [...new Set(nodes.map(({ instance }) => instance))])
    .where('deployed.operation', '<>', 'destroy')
    .select(['i.id', 'i.name', 'i.template_id as templateId', 'i.sealed_outputs as sealed'])
    .execute();
  const found = new Map<string, MaskedOutputs>();
  for (const { key, instance, templateId } of nodes) {
    const row = rows.find((other) => other.name === instance && other.templateId === templateId);
    if (row) found.set(key, row.sealed ? keyRing.openJson<MaskedOutputs>(outputsContext(row.id), row.sealed) : {});
  }
  return found;
}

/** Whether the outputs of a node may be read: it succeeded, it was left out, or the run only plans. */
export function mayReadOutputs(
  run: Pick<AssemblyRun, 'operation'>,
  node: Pick<AssemblyNode, 'status' | 'reason'>,
): boolean {
  const { toleratesMissingOutputs } = operationRules[run.operation];
  return lendsOutputs(node) || (toleratesMissingOutputs && node.status !== 'skipped');
}

/** Finds the variable of the run, or the output of a node, that a reference names. */
export function referenceFinder(
  { values, sensitive }: AssemblyVariables,
  outputs: NodeOutputs,
): (reference: Reference) => Known | undefined {
  return (reference) => {
    const { name } = reference;
    if (reference.kind === 'variable') {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      return value === undefined ? undefined : { value, isSensitive: sensitive.includes(name) };
    }
    const ofNode = outputs.get(reference.node);
    const output = ofNode && Object.hasOwn(ofNode, name) ? ofNode[name] : undefined;
    return output && { value: output.value, isSensitive: output.sensitive };
  };
}

/**
 * The outputs of an assembly run that has succeeded, secrets masked. One that refers to a skipped node is left out, and so is each with
 * which all outputs together would be too large: what is deployed is no failure.
 */
export async function collectOutputs(
  em: Em,
  keyRing: KeyRing,
  run: AssemblyRun,
  nodes: readonly AssemblyNode[],
): Promise<MaskedOutputs> {
  const spec = await findVersionSpec(em, run.assemblyVersionId);
  const used = new Set(findReferences(spec.outputs).flatMap((each) => (each.kind === 'output' ? [each.node] : [])));
  const readable = nodes.filter((node) => used.has(node.key) && mayReadOutputs(run, node));
  const outputs = await readNodeOutputs(em, keyRing, run, readable);
  const find = referenceFinder(openVariables(keyRing, run), outputs);
  const budget = new ReferenceBudget();
  const collected: MaskedOutputs = {};
  for (const [name, reference] of Object.entries(spec.outputs)) {
    const known = tryResolve(reference, find, budget);
    if (known) Object.defineProperty(collected, name, { value: known, enumerable: true });
  }
  return maskOutputs(collected);
}

function tryResolve(
  reference: JsonValue,
  find: (reference: Reference) => Known | undefined,
  budget: ReferenceBudget,
): { value: JsonValue; sensitive: boolean } | null {
  try {
    const { value, isSensitive } = resolveReferences(reference, find, budget);
    return { value, sensitive: isSensitive };
  } catch (error) {
    if (error instanceof ReferenceFailed) return null;
    throw error;
  }
}
