import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { AssemblyNodeSpec, maxNodes, nodeKeyPattern } from './spec.ts';

/** A node of a spec that may be invalid: its valid fields, and the names of the invalid ones, which get their defaults. */
interface DraftNode {
  readonly spec: AssemblyNodeSpec;
  readonly unreadable: ReadonlySet<string>;
}

/**
 * The nodes of a value that may not be a valid spec, up to the maximum of a spec, without those with invalid keys. Checks, drawings and
 * comparisons use the valid parts, so that one wrong field hides nothing else.
 */
function readNodes(value: JsonValue): Map<string, DraftNode> {
  const written = Object.entries(objectOf(objectOf(value)['nodes'])).slice(0, maxNodes);
  return new Map(written.flatMap(([key, node]) => (nodeKeyPattern.test(key) ? [[key, readNode(node)]] : [])));
}

/** The specs of these nodes. A `template` that is missing or invalid is empty. */
export function readableNodes(value: JsonValue): Record<string, AssemblyNodeSpec> {
  return Object.fromEntries([...readNodes(value)].map(([key, { spec }]) => [key, spec]));
}

/** The nodes of a spec that may be invalid, as its checks take them. */
export interface DraftNodes {
  readonly nodes: Readonly<Record<string, AssemblyNodeSpec>>;
  /** The keys of all nodes, including unreadable ones. */
  readonly keys: ReadonlySet<string>;
  /** Whether a field of a node has the written value, and not a default in place of an invalid one. */
  isReadable(key: string, field: keyof AssemblyNodeSpec): boolean;
}

/** The nodes of a draft in the form that the checks of a spec use. */
export function nodesOfDraft(value: JsonValue): DraftNodes {
  const nodes = readNodes(value);
  return {
    nodes: Object.fromEntries([...nodes].map(([key, { spec }]) => [key, spec])),
    keys: new Set(Object.keys(objectOf(objectOf(value)['nodes']))),
    isReadable: (key, field) => nodes.get(key)?.unreadable.has(field) === false,
  };
}

const fields = Object.entries(AssemblyNodeSpec.shape);
const WithoutTemplate = AssemblyNodeSpec.omit({ template: true });

function readNode(node: JsonValue): DraftNode {
  const whole = AssemblyNodeSpec.safeParse(node);
  if (whole.success) return { spec: whole.data, unreadable: new Set() };
  const written = objectOf(node);
  const unreadable = new Set(fields.flatMap(([name, field]) => (field.safeParse(written[name]).success ? [] : [name])));
  const known = fields.flatMap(([name]) => {
    const member = written[name];
    return member === undefined || unreadable.has(name) ? [] : [[name, member] as const];
  });
  const { template = '', ...rest } = Object.fromEntries(known);
  return { spec: { template: String(template), ...WithoutTemplate.parse(rest) }, unreadable };
}

/** The members of an object; empty if the value is not an object. */
export function objectOf(value: JsonValue | undefined): Readonly<Record<string, JsonValue>> {
  return isJsonObject(value) ? value : {};
}
