import { sql } from 'kysely';
import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import { maskOutputs } from '#domain/instances/state/masked-outputs.ts';
import { openSourceOutputs } from '#domain/runs/references/sources-store.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
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

/**
 * The outputs of nodes to which something refers, secrets included, by the keys of the nodes. Each deployed node has an entry. They never
 * leave the domain: values made from them are sealed in the run of a node, and masked in answers.
 */
export type NodeOutputs = ReadonlyMap<string, MaskedOutputs>;

/** The instances by which nodes are deployed now, by the keys of the nodes, and the sizes of their outputs. */
export type DeployedInstances = ReadonlyMap<string, { readonly id: string; readonly bytes: number }>;

/** Finds out which nodes are deployed, without opening their outputs. */
export async function findDeployedInstances(
  em: Em,
  { environmentId }: Pick<AssemblyRun, 'environmentId'>,
  nodes: readonly Pick<AssemblyNode, 'key' | 'instance' | 'templateId'>[],
): Promise<DeployedInstances> {
  if (nodes.length === 0) return new Map();
  const rows = await db(em)
    .selectFrom('instances as i')
    .innerJoin('runs as deployed', 'deployed.id', 'i.deployedRunId')
    .where('i.environmentId', '=', environmentId)
    .where('i.deletedAt', 'is', null)
    .where('i.name', 'in', [...new Set(nodes.map(({ instance }) => instance))])
    .where('deployed.operation', '<>', 'destroy')
    .select(['i.id', 'i.name', 'i.templateId'])
    .select(({ ref }) => sql<number>`coalesce(octet_length(${ref('i.sealedOutputs')}), 0)`.as('bytes'))
    .execute();
  const byName = new Map(rows.map((row) => [row.name, row]));
  return new Map(
    nodes.flatMap(({ key, instance, templateId }) => {
      const row = byName.get(instance);
      return row?.templateId === templateId ? [[key, row] as const] : [];
    }),
  );
}

/** The maximum of outputs that one node may receive: as much as one node may have. */
const maxRead = { values: 100_000, bytes: 4 * 1024 * 1024 };
/** The maximum bytes of all outputs that are opened to read some of them. They are opened on the main thread, one after another. */
const maxOpened = 64 * 1024 * 1024;

/**
 * Reads the outputs that references name, and nothing else. Only the outputs of one node are in memory at a time. `isTooLarge`: together
 * they exceed the maximum for a node, and the rest was not read.
 */
export async function readReferredOutputs(
  em: Em,
  keyRing: KeyRing,
  deployed: DeployedInstances,
  references: readonly Reference[],
): Promise<{ outputs: NodeOutputs; isTooLarge: boolean }> {
  const outputs = new Map<string, MaskedOutputs>([...deployed.keys()].map((key) => [key, {}]));
  const budget = new ReferenceBudget(maxRead);
  let opened = 0;
  for (const [key, names] of namesByNode(references)) {
    const instance = deployed.get(key);
    if (!instance) continue;
    opened += instance.bytes;
    if (opened > maxOpened) return { outputs, isTooLarge: true };
    const known = await openSourceOutputs(em, keyRing, instance.id);
    const read = Object.entries(known).filter(([name]) => names.has(name));
    if (!read.every(([, { value }]) => budget.pay(value))) return { outputs, isTooLarge: true };
    outputs.set(key, Object.fromEntries(read));
  }
  return { outputs, isTooLarge: false };
}

function namesByNode(references: readonly Reference[]): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  for (const reference of references) {
    if (reference.kind !== 'output') continue;
    names.set(reference.node, (names.get(reference.node) ?? new Set()).add(reference.name));
  }
  return names;
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
 * The outputs of an assembly run that has succeeded, with secrets masked. It leaves out outputs that refer to a skipped node, and those
 * that would make the whole too large. The run does not fail because of that, since its nodes are deployed.
 */
export async function collectOutputs(
  em: Em,
  keyRing: KeyRing,
  run: AssemblyRun,
  nodes: readonly AssemblyNode[],
): Promise<MaskedOutputs> {
  const spec = await findVersionSpec(em, run.assemblyVersionId);
  const references = findReferences(spec.outputs);
  const used = new Set(references.flatMap((each) => (each.kind === 'output' ? [each.node] : [])));
  const readable = nodes.filter((node) => used.has(node.key) && mayReadOutputs(run, node));
  const deployed = await findDeployedInstances(em, run, readable);
  const { outputs } = await readReferredOutputs(em, keyRing, deployed, references);
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
