import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';

/** The inputs with which an instance was deployed. */
export interface DeployedInputs {
  /** The exact version of the template. */
  readonly version: string;
  readonly variables: Readonly<Record<string, JsonValue>>;
  /** The environment variables of the run's tools by name. */
  readonly environment: Readonly<Record<string, JsonValue>>;
}

/**
 * Inputs as a flat map from JSON pointers (RFC 6901) to leaves: `/version`, `/variables/size/cpu`, `/environment/AWS_REGION`. A leaf
 * is a text, number, boolean, null or list, or the mark of an object, whose members are leaves of their own. Two inputs are the same
 * if their leaves are.
 */
export type Leaves = ReadonlyMap<string, Leaf>;

export type Leaf =
  | { readonly kind: 'value'; readonly value: JsonValue }
  /** A value in a secret variable, with the keyed hash by which it is compared. */
  | { readonly kind: 'secret'; readonly value: JsonValue; readonly hash: string }
  | { readonly kind: 'object' };

/**
 * Which variables are secret, and how their values are compared. All inputs that are compared with each other have the same secrets.
 */
export interface Secrets {
  readonly names: ReadonlySet<string>;
  readonly hash: (value: JsonValue) => string;
}

const objectLeaf: Leaf = { kind: 'object' };

/** Flattens inputs. `inputsOf` turns the leaves back into the same inputs. */
export function leavesOf({ version, variables, environment }: DeployedInputs, { names, hash }: Secrets): Leaves {
  const leaves = new Map<string, Leaf>([['/version', openLeaf(version)]]);
  const secretLeaf = (value: JsonValue): Leaf => ({ kind: 'secret', value, hash: hash(value) });
  for (const [name, value] of Object.entries(variables))
    addLeaves(leaves, pointer('/variables', name), value, names.has(name) ? secretLeaf : openLeaf);
  for (const [name, value] of Object.entries(environment)) leaves.set(pointer('/environment', name), openLeaf(value));
  return leaves;
}

function openLeaf(value: JsonValue): Leaf {
  return { kind: 'value', value };
}

function addLeaves(
  leaves: Map<string, Leaf>,
  path: string,
  value: JsonValue,
  toLeaf: (value: JsonValue) => Leaf,
): void {
  if (!isJsonObject(value)) {
    leaves.set(path, toLeaf(value));
    return;
  }
  leaves.set(path, objectLeaf);
  for (const [name, member] of Object.entries(value)) addLeaves(leaves, pointer(path, name), member, toLeaf);
}

/** @throws Error if a leaf lies in an object that the leaves lack: a defect of the caller */
export function inputsOf(leaves: Leaves): DeployedInputs {
  const whole: DeployedInputs & { [name: string]: JsonValue } = { version: '', variables: {}, environment: {} };
  // A path sorts before longer paths that begin with it, so each object is created before its members.
  for (const path of [...leaves.keys()].sort()) {
    const names = namesOf(path);
    const last = names.pop() as string;
    const parent = names.reduce<JsonValue | undefined>((value, name) => ownMember(value, name), whole);
    if (!isJsonObject(parent)) throw new Error(`the path ${path} lies in no object`);
    const leaf = leaves.get(path) as Leaf;
    defineMember(parent, last, leaf.kind === 'object' ? {} : leaf.value);
  }
  return whole;
}

/** Secrets are compared by their hashes alone. */
export function isSameLeaf(one: Leaf | undefined, other: Leaf | undefined): boolean {
  if (one?.kind === 'secret' && other?.kind === 'secret') return one.hash === other.hash;
  return isDeepStrictEqual(one, other);
}

/** The path of the object that contains a leaf; null if that object is not itself a leaf. */
export function parentOf(path: string): string | null {
  const parent = path.slice(0, path.lastIndexOf('/'));
  return parent.includes('/', 1) ? parent : null;
}

/** Whether a path leads into the object at another one. */
export function liesIn(path: string, object: string): boolean {
  return path.startsWith(`${object}/`);
}

export function pointer(path: string, name: string): string {
  return `${path}/${escapePointer(name)}`;
}

/** The names along a path, from the outermost to its own. */
export function namesOf(path: string): string[] {
  return path
    .slice(1)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function ownMember(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Sets a member, even one named `__proto__`, which an assignment would not set. */
function defineMember(object: { [name: string]: JsonValue }, name: string, value: JsonValue): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}
