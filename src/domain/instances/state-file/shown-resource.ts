import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { type DeployedResource, type StateObject, toDeployedResource } from './addresses.ts';

/**
 * Redacted texts of resources, by the index of the managed object in the state, from 0. A secret may be a key of `for_each`. Only the
 * executor host knows the secrets of an attempt, so it writes this beside the state.
 */
export type MaskedAddresses = Readonly<Record<string, Partial<Record<keyof DeployedResource, string>>>>;

/** A resource of a state. */
export interface StateResource {
  /** The real address. It identifies the resource. Never show it to people, because it may contain secrets. */
  readonly address: string;
  /** The resource in the form that people may see. */
  readonly shown: DeployedResource;
}

/** The resource at an index of a state. All code that shows resources of a state must use this function. */
export function readStateResource(object: StateObject, masked: MaskedAddresses, index: number): StateResource {
  const resource = toDeployedResource(object);
  return { address: resource.address, shown: { ...resource, ...masked[index] } };
}

/** An object of a parsed state with its resource. */
export interface ParsedObject {
  readonly resource: StateResource;
  readonly members: Readonly<Record<string, JsonValue>>;
}

/**
 * The managed objects among the parsed resources of a state, in its order: of `count` or `for_each` there are several. Data sources do not
 * count.
 */
export function readManagedObjects(resources: readonly JsonValue[], masked: MaskedAddresses = {}): ParsedObject[] {
  const managed = resources.filter(isJsonObject).filter(({ mode }) => mode !== 'data');
  const objects = managed.flatMap((resource) => {
    const { instances = [] } = resource;
    const listed = Array.isArray(instances) ? instances : [];
    return listed.map((object) => ({ resource, members: isJsonObject(object) ? object : {} }));
  });
  return objects.map(({ resource, members }, index) => ({
    resource: readStateResource(toStateObject(resource, members), masked, index),
    members,
  }));
}

function toStateObject(
  { module, type, name, provider }: ParsedObject['members'],
  { index_key: key, deposed }: ParsedObject['members'],
): StateObject {
  return {
    module: toText(module) || null,
    type: toText(type) ?? '',
    name: toText(name) ?? '',
    provider: toText(provider) || null,
    key: typeof key === 'number' ? key : toText(key),
    deposed: toText(deposed),
  };
}

function toText(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
