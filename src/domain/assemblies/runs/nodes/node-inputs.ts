import type { ReadingPlace, SealedRead } from '#domain/runs/references/model.ts';
import { resolveReferences as readInstanceOutputs } from '#domain/runs/references/resolve-references.ts';
import { SourceOutputs } from '#domain/runs/references/source-outputs.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { limitSubjectOf } from '#domain/shared/tasks/limit-subject.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { AssemblyNode, type AssemblyRun } from '../../entity.ts';
import { AssemblyEvaluator } from '../../evaluation/assembly-evaluator.ts';
import { type EndedNodeStatus, isLeftOut, type NodeReason, type NodeReasonCode, operationRules } from '../../model.ts';
import type { ConditionFacts } from '../../spec/conditions/conditions.ts';
import { toCelNumbers } from '../../spec/conditions/exact-facts.ts';
import { ReferenceBudget } from '../../spec/reference-budget.ts';
import { findReferences, type Reference, ReferenceFailed, resolveReferences } from '../../spec/references.ts';
import { type AssemblyVariables, openVariables } from '../admission/variables.ts';
import {
  type DeployedInstances,
  findDeployedInstances,
  mayReadOutputs,
  type NodeOutputs,
  readReferredOutputs,
  referenceFinder,
} from './outputs.ts';

/** Thrown if a node ends without a run. */
export class NodeEndsUnrun extends Error {
  readonly status: EndedNodeStatus;
  readonly reason: NodeReason;

  constructor(status: EndedNodeStatus, code: NodeReasonCode, message: string) {
    super(message);
    this.name = 'NodeEndsUnrun';
    this.status = status;
    this.reason = { code, message };
  }
}

/** The variables for the run of a node. */
export interface NodeInputs {
  readonly variables: Record<string, JsonValue>;
  /** Names of variables that contain a secret. */
  readonly sensitive: string[];
  /** The outputs of instances outside the assembly that were read. */
  readonly reads?: readonly SealedRead[];
}

/**
 * Evaluates the condition of a node and the references in its variables. A destroy evaluates neither: it uses the deployed values.
 * @throws NodeEndsUnrun if the condition is false, or if something cannot be evaluated; Unprocessable for an output of an instance that may
 * not be read
 */
export async function resolveNode(
  tx: Transaction,
  { keyRing, evaluator }: { keyRing: KeyRing; evaluator: Evaluator },
  run: AssemblyRun,
  { node, place }: { readonly node: AssemblyNode; readonly place: ReadingPlace },
): Promise<NodeInputs> {
  if (!operationRules[run.operation].evaluatesInputs) return { variables: {}, sensitive: [] };
  const others = await tx.em.find(AssemblyNode, { assemblyRunId: run.id, key: { $in: node.dependencies } });
  const requester = { id: run.authorityId, responsibleUserId: run.responsibleUserId ?? null };
  const evaluation = new AssemblyEvaluator(evaluator, limitSubjectOf(requester, place));
  const readable = others.filter((other) => mayReadOutputs(run, other));
  const deployed = await findDeployedInstances(tx.em, run, readable);
  const known = { keyRing, deployed, variables: openVariables(keyRing, run) };
  await checkCondition(tx, evaluation, node, { ...known, others });
  return resolveVariables(tx, run, node, { ...known, place });
}

/** The data that conditions and references may read. */
interface Readable {
  readonly keyRing: KeyRing;
  readonly deployed: DeployedInstances;
  readonly variables: AssemblyVariables;
}

async function readOutputs(
  { em }: Transaction,
  { keyRing, deployed }: Readable,
  references: readonly Reference[],
): Promise<NodeOutputs> {
  const { outputs, isTooLarge } = await readReferredOutputs(em, keyRing, deployed, references);
  if (!isTooLarge) return outputs;
  throw new NodeEndsUnrun(
    'failed',
    'refused',
    'the outputs to which this node refers are too large: refer to fewer or smaller ones',
  );
}

function toConditionFacts(
  { values }: AssemblyVariables,
  others: readonly AssemblyNode[],
  outputs: NodeOutputs,
): ConditionFacts {
  const nodes = others.map((other) => {
    const known = outputs.get(other.key);
    const plain = Object.fromEntries(Object.entries(known ?? {}).map(([name, { value }]) => [name, value]));
    // A node that was left out counts as succeeded if it is deployed.
    const isDeployed = isLeftOut(other) && known !== undefined;
    return [other.key, { status: isDeployed ? 'succeeded' : other.status, outputs: plain }] as const;
  });
  return { variables: values, nodes: Object.fromEntries(nodes) };
}

async function checkCondition(
  tx: Transaction,
  evaluation: AssemblyEvaluator,
  { spec, key }: AssemblyNode,
  { others, ...readable }: Readable & { readonly others: readonly AssemblyNode[] },
): Promise<void> {
  const { when } = spec;
  if (when === undefined) return;
  const fail = (problem: string) => new NodeEndsUnrun('failed', 'condition_failed', `${when}: ${problem}`);
  const read = await tx.awaitOutside(JSON.stringify(['read', when]), () =>
    inTime(() => evaluation.readCondition(when)),
  );
  if ('problem' in read) throw fail(read.problem);
  const outputs = await readOutputs(tx, readable, read.references);
  const known = toCelNumbers(toConditionFacts(readable.variables, others, outputs), read.references);
  if ('problem' in known) throw fail(known.problem);
  const { facts } = known;
  const evaluate = () => inTime(() => evaluation.evaluateCondition(when, facts));
  const result = await tx.awaitOutside(JSON.stringify([key, when, facts]), evaluate);
  if ('problem' in result) throw fail(result.problem);
  if (!result.value) throw new NodeEndsUnrun('skipped', 'condition_false', `its condition is false: ${when}`);
}

/** Turns a timeout of a condition into a problem: it counts as impossible to evaluate. */
async function inTime<Result>(work: () => Promise<Result>): Promise<Result | { readonly problem: string }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Unprocessable) return { problem: error.message };
    throw error;
  }
}

async function resolveVariables(
  tx: Transaction,
  run: AssemblyRun,
  { spec }: AssemblyNode,
  { place, ...readable }: Readable & { readonly place: ReadingPlace },
): Promise<NodeInputs> {
  const outputs = await readOutputs(tx, readable, findReferences(spec.variables));
  const { reads } = await readInstanceOutputs(tx.em, new SourceOutputs(tx.em, readable.keyRing), place, spec.variables);
  const readByText = new Map(reads.map((read) => [read.reference, { value: read.value, isSensitive: read.sensitive }]));
  const find = referenceFinder(readable.variables, outputs);
  const budget = new ReferenceBudget();
  const resolved: [string, JsonValue][] = [];
  const sensitive: string[] = [];
  for (const [name, written] of Object.entries(spec.variables)) {
    try {
      const { value, isSensitive } = resolveReferences(written, find, budget, ({ text }) => readByText.get(text));
      resolved.push([name, value]);
      if (isSensitive) sensitive.push(name);
    } catch (error) {
      if (error instanceof ReferenceFailed) throw unresolved(run, name, error);
      throw error;
    }
  }
  return { variables: Object.fromEntries(resolved), sensitive, reads };
}

/** The end of a node whose reference has no value. In a plan this is not a failure, because nothing may have produced the output yet. */
function unresolved({ operation }: AssemblyRun, name: string, { message }: ReferenceFailed): NodeEndsUnrun {
  const because = `variables.${name}: ${message}`;
  return operationRules[operation].toleratesMissingOutputs
    ? new NodeEndsUnrun('skipped', 'outputs_missing', `${because}; it is known once that node is deployed`)
    : new NodeEndsUnrun('failed', 'refused', because);
}
