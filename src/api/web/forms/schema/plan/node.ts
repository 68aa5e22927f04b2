import type { Schema } from '#domain/registry/variables/engine.ts';
import type { JsonObject, JsonValue } from '#domain/shared/values/json.ts';

/** What every part of a form knows about its value. */
interface Described {
  /** The JSON name of a variable, or of a member of an object. Empty for items and for shapes. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly isRequired: boolean;
  readonly isDeprecated: boolean;
  /** The value must never be shown after it was typed. */
  readonly isSecret: boolean;
  readonly default: JsonValue | undefined;
  /** The schema itself. Its bounds and examples become hints. */
  readonly schema: JsonObject;
}

export interface LabeledValue {
  readonly value: JsonValue;
  readonly label: string;
}

export interface TextNode extends Described {
  readonly kind: 'text';
  readonly input: 'line' | 'lines' | 'date';
}

export interface NumberNode extends Described {
  readonly kind: 'number';
}

/** A value from a few options, such as those of an enum, true or false, or null. */
export interface OptionsNode extends Described {
  readonly kind: 'options';
  readonly options: readonly LabeledValue[];
}

/** A constant. It is sent whenever the value around it is sent. */
export interface FixedNode extends Described {
  readonly kind: 'fixed';
  readonly value: JsonValue;
}

/** A set of options, each at most once. */
export interface ManyNode extends Described {
  readonly kind: 'many';
  readonly options: readonly LabeledValue[];
}

export interface ObjectNode extends Described {
  readonly kind: 'object';
  readonly members: readonly Node[];
  /** The node of members whose names the visitor chooses; null if the schema allows none. */
  readonly row: Node | null;
}

export interface ArrayNode extends Described {
  readonly kind: 'array';
  /** The nodes of the first items, which have schemas of their own. */
  readonly first: readonly Node[];
  /** The node of every further item; null if there may be none. */
  readonly item: Node | null;
}

/** A value with several possible shapes, of which the visitor chooses one. */
export interface ShapesNode extends Described {
  readonly kind: 'shapes';
  readonly shapes: readonly Node[];
}

/** A value that no form can represent. It is written as JSON. */
export interface JsonNode extends Described {
  readonly kind: 'json';
}

/** A part of a form that is made from a schema. */
export type Node =
  | TextNode
  | NumberNode
  | OptionsNode
  | FixedNode
  | ManyNode
  | ObjectNode
  | ArrayNode
  | ShapesNode
  | JsonNode;

/** Whether a node consists of others, so that it can also be written as JSON. */
export function isComposite(node: Node): node is ObjectNode | ArrayNode | ShapesNode {
  return node.kind === 'object' || node.kind === 'array' || node.kind === 'shapes';
}

/** Whether a node or a part of it is secret. */
export function holdsSecret(node: Node): boolean {
  if (node.isSecret) return true;
  if (node.kind === 'object') return [...node.members, ...(node.row ? [node.row] : [])].some(holdsSecret);
  if (node.kind === 'array') return [...node.first, ...(node.item ? [node.item] : [])].some(holdsSecret);
  return node.kind === 'shapes' && node.shapes.some(holdsSecret);
}

/** The same form with all fields optional, for a run that takes missing values from the deployment. */
export function withoutRequired(node: ObjectNode): ObjectNode {
  const members = node.members.map((member) =>
    member.kind === 'object' ? withoutRequired(member) : { ...member, isRequired: false },
  );
  return { ...node, isRequired: false, members };
}

/** A text of a schema; empty if its author left it out. */
export function textOf(schema: Schema, keyword: string): string {
  const value = typeof schema === 'boolean' ? undefined : schema[keyword];
  return typeof value === 'string' ? value : '';
}
