import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import type { CheckFinding } from './checks/model.ts';
import type { TemplateFiles } from './files.ts';
import type { TemplateSpec } from './spec.ts';
import { proposeSpec } from './spec-proposal.ts';
import type { JsonObject } from './variables/engine.ts';

/** A spec that is completed from its files, and what they say beside it. */
export interface DerivedSpec {
  readonly spec: TemplateSpec;
  readonly readme: string | null;
  /** What could not be taken over, unless the spec says it itself. */
  readonly notes: readonly CheckFinding[];
}

/** Completes a spec with the variables and outputs of its files. What the spec says itself takes precedence. Commands declare none. */
export function deriveSpec(spec: TemplateSpec, files: TemplateFiles): DerivedSpec {
  if (spec.executor.kind !== 'opentofu') return { spec, readme: null, notes: [] };
  const proposed = proposeSpec(files, spec.executor.git?.path);
  const own = objectOf(spec.variables['properties']);
  const variables = mergeSchemas(proposed.variables, spec.variables);
  const isOwn = ({ path }: CheckFinding) =>
    Object.keys(own).some((name) => path === `/variables/properties/${escapePointer(name)}`);
  return {
    spec: { ...spec, variables, outputs: { ...proposed.outputs, ...spec.outputs } },
    readme: proposed.readme,
    notes: proposed.notes.filter((note) => note.path.startsWith('/variables/') && !isOwn(note)),
  };
}

function mergeSchemas(proposed: JsonObject, typed: JsonObject): JsonObject {
  const own = objectOf(typed['properties']);
  const required = [
    ...namesOf(typed['required']),
    ...namesOf(proposed['required']).filter((name) => !Object.hasOwn(own, name)),
  ];
  return { ...proposed, ...typed, properties: { ...objectOf(proposed['properties']), ...own }, required };
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function namesOf(value: JsonValue | undefined): string[] {
  return (Array.isArray(value) ? value : []).filter((name) => typeof name === 'string');
}
