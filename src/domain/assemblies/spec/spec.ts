import { z } from 'zod';
import { InstanceName } from '#domain/instances/instance-name.ts';
import { durationBetween } from '#domain/shared/values/durations.ts';
import { Json } from '#domain/shared/values/json.ts';
import { approvalRules } from '#domain/shared/vocabulary/approval.ts';

/** The spec of an assembly (docs/assemblies.md, *The spec*). */

const hour = 3_600;
const day = 24 * hour;

export const maxNodes = 1_000;
export const maxConcurrent = 100;
const maxDependencies = 100;
/** The maximum length of a condition. Longer logic belongs into a template. */
export const maxConditionLength = 2_000;

export const nodeKeyPattern = /^[a-z][a-z0-9_-]{0,62}$/;
export const NodeKey = z.string().regex(nodeKeyPattern, {
  error: 'expected 1-63 lowercase letters, digits, "_" and "-", starting with a letter, such as "network"',
});

const OutputName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,127}$/, {
  error: 'expected letters, digits, "_" and "-", starting with a letter or "_"',
});

/** The approval that a node demands in addition to the policies of its template and its environment. */
const NodeApproval = z.strictObject({
  required: z.int().min(0).max(10),
  when: z.enum(approvalRules).default('always'),
  allow_self: z.boolean().default(false),
});

const Retry = z.strictObject({
  /** The number of all attempts, including the first one. */
  attempts: z.int().min(1).max(10),
  /** The pause before the second try. Each further pause is twice as long, at most an hour. */
  backoff: durationBetween(0, hour).default('PT10S'),
});

export const AssemblyNodeSpec = z.strictObject({
  /** A template's id or slug: the team's own first, then the installation's. */
  template: z.string().min(1).max(100),
  version: z.string().min(1).max(128).default('latest'),
  /** The node's key by default. */
  instance: InstanceName.optional(),
  variables: z.record(z.string(), Json).default({}),
  depends_on: z.array(NodeKey).max(maxDependencies).default([]),
  /** A condition in CEL over `variables` and `nodes`. */
  when: z.string().min(1).max(maxConditionLength).optional(),
  approval: NodeApproval.optional(),
  /** The timeout of the whole node, including the time that it waits for approval. */
  timeout: durationBetween(1, 90 * day).optional(),
  retry: Retry.optional(),
});
export type AssemblyNodeSpec = z.output<typeof AssemblyNodeSpec>;

const Nodes = z
  .record(NodeKey, AssemblyNodeSpec)
  .refine((nodes) => Object.keys(nodes).length > 0, { error: 'must have at least one node' })
  .refine((nodes) => Object.keys(nodes).length <= maxNodes, { error: `must have at most ${maxNodes} nodes` });

/** The schema of an assembly without variables. */
export const noVariables = { type: 'object', properties: {} };

/** The form of a spec. `validateSpec` checks its references. */
export const AssemblySpec = z
  .strictObject({
    description: z.string().max(10_000).optional(),
    /** The JSON Schema of the variables of a run; `writeOnly` marks secrets. */
    variables: z.record(z.string(), Json).default(noVariables),
    nodes: Nodes,
    /** Texts with references, by the names of the outputs. */
    outputs: z.record(OutputName, z.string().max(4_000)).default({}),
    concurrency: z.int().min(1).max(maxConcurrent).default(10),
  })
  .meta({ id: 'AssemblySpec' });
export type AssemblySpec = z.output<typeof AssemblySpec>;

/** The name of the instance that a node deploys. */
export function instanceOf(key: string, node: Pick<AssemblyNodeSpec, 'instance'>): string {
  return node.instance ?? key;
}
