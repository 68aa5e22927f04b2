import type { DeployedResource } from '#domain/instances/state-file/addresses.ts';
import { readManagedObjects } from '#domain/instances/state-file/shown-resource.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { MaskedOutputs } from '#domain/shared/values/masked.ts';
import { asArray, isObject, type JsonObject, parseJson } from '../../shared/json.ts';

/** The parts of OpenTofu's state that the service reads. */
export interface StateDocument {
  readonly serial: number | null;
  readonly lineage: string | null;
  readonly outputs: MaskedOutputs;
  /** Whether the template encrypts its state, so that nothing else can be read. */
  readonly isEncrypted: boolean;
  /** The managed resources, in the order of the state. */
  readonly resources: readonly DeployedResource[];
  /** Values that the tool marks as secret. */
  readonly secrets: JsonValue[];
}

/** @throws Error if the bytes are not a state */
export function readStateDocument(content: Buffer): StateDocument {
  const state = parseJson(content);
  if (!isObject(state)) throw new Error('it is not a JSON object');
  const outputs = toMaskedOutputs(state['outputs']);
  const listed = asArray(state['resources']);
  return {
    serial: typeof state['serial'] === 'number' ? state['serial'] : null,
    lineage: typeof state['lineage'] === 'string' && state['lineage'] !== '' ? state['lineage'] : null,
    outputs,
    isEncrypted: state['encrypted_data'] !== undefined,
    resources: readManagedObjects(listed).map(({ resource }) => resource.shown),
    secrets: [
      ...Object.values(outputs).flatMap(({ value, sensitive }) => (sensitive ? [value] : [])),
      ...listed
        .filter(isObject)
        .flatMap(({ instances }) => asArray(instances).filter(isObject))
        .flatMap(sensitiveAttributes),
    ],
  };
}

function toMaskedOutputs(outputs: JsonValue | undefined): MaskedOutputs {
  const entries = Object.entries(isObject(outputs) ? outputs : {});
  return Object.fromEntries(
    entries.map(([name, output]) => {
      const { value = null, sensitive = false } = isObject(output) ? output : {};
      return [name, { value, sensitive: sensitive === true }];
    }),
  );
}

/** Returns the values at the paths that a resource instance marks: [{type: get_attr | index, value}, …]. */
function sensitiveAttributes({ attributes, sensitive_attributes: paths }: JsonObject): JsonValue[] {
  return asArray(paths).map((path) => {
    let value: JsonValue | undefined = attributes;
    for (const step of asArray(path).filter(isObject)) value = descend(value, step['value']);
    return value ?? null;
  });
}

function descend(value: JsonValue | undefined, step: JsonValue | undefined): JsonValue | undefined {
  const key = isObject(step) ? step['value'] : step;
  if (Array.isArray(value) && typeof key === 'number') return value[key];
  return isObject(value) && typeof key === 'string' ? value[key] : undefined;
}
