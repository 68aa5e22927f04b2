import { posix } from 'node:path';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';
import { isValueFile } from '#domain/sources/hcl/value-files.ts';
import { toolNames } from '#domain/tools/model.ts';
import type { CheckFinding } from './checks/model.ts';
import type { TemplateSpec } from './spec.ts';
import { proposeSpec, toolPath } from './spec-proposal.ts';
import { messagesKeyword } from './variables/errors.ts';
import { withoutNull } from './variables/nulls.ts';

/** A spec that was completed from its files, with their readme and notes. */
export interface DerivedSpec {
  readonly spec: TemplateSpec;
  readonly readme: string | null;
  /** What could not be derived from the files and is not in the spec either. */
  readonly notes: readonly CheckFinding[];
}

/**
 * Completes a spec with the variables and outputs that its files declare. Those of the spec itself take precedence. Commands declare none.
 */
export function deriveSpec(spec: TemplateSpec, files: TemplateFiles): DerivedSpec {
  if (spec.executor.kind !== 'opentofu') return { spec, readme: null, notes: [] };
  const proposed = proposeSpec(files, spec.executor.git?.path, spec.tool);
  const own = objectOf(spec.variables['properties']);
  const variables = mergeSchemas(proposed.variables, spec.variables);
  const isOwn = ({ path }: CheckFinding) =>
    Object.keys(own).some((name) => path === `/variables/properties/${escapePointer(name)}`);
  return {
    spec: { ...spec, variables, outputs: { ...proposed.outputs, ...spec.outputs } },
    readme: proposed.readme,
    notes: proposed.notes.filter(
      (note) => note.path === toolPath || (note.path.startsWith('/variables/') && !isOwn(note)),
    ),
  };
}

/** The variables and outputs of a spec. */
type Interface = Pick<TemplateSpec, 'variables' | 'outputs'>;

/**
 * The variables and outputs of a spec without those that equal the ones derived from the files, so that the next version derives them from
 * its own files. Null if the spec omits some that the files declare, because a completion would add them.
 */
export function withoutDerived(
  spec: Interface & Pick<TemplateSpec, 'tool'>,
  files: TemplateFiles,
  directory?: string,
): Partial<Interface> | null {
  const proposed = proposeSpec(files, directory, spec.tool);
  const own = objectOf(spec.variables['properties']);
  const said = objectOf(proposed.variables['properties']);
  // Earlier releases read no value files and, without a tool in the spec, may have read the files for the other tool.
  const isRead = readAnew(proposed, () =>
    [files, withoutValueFiles(files)].flatMap((each) =>
      (spec.tool ? [spec.tool] : toolNames.map((name) => ({ name }))).map((tool) => proposeSpec(each, directory, tool)),
    ),
  );
  const isComplete =
    Object.keys(said).every((name) => Object.hasOwn(own, name)) &&
    Object.keys(proposed.outputs).every((name) => Object.hasOwn(spec.outputs, name));
  if (!isComplete) return null;
  const required = namesOf(spec.variables['required']);
  const isDerived = (name: string) =>
    isRead(
      ({ variables }) =>
        isSameVariable(own[name], objectOf(variables['properties'])[name]) &&
        required.includes(name) === namesOf(variables['required']).includes(name),
    );
  const typed = Object.keys(own).filter((name) => !isDerived(name));
  const outputs = Object.entries(spec.outputs).filter(
    ([name, output]) => !isRead((reading) => isSame(output, reading.outputs[name])),
  );
  const { type: _type, properties: _properties, required: _required, ...rules } = spec.variables;
  const variables = {
    ...spec.variables,
    properties: Object.fromEntries(typed.map((name) => [name, own[name]!])),
    required: required.filter((name) => typed.includes(name)),
  };
  return {
    ...((typed.length > 0 || Object.keys(rules).length > 0) && { variables }),
    ...(outputs.length > 0 && { outputs: Object.fromEntries(outputs) }),
  };
}

/** Returns a function that checks a condition on the first reading and, only if that fails, on the other readings. */
function readAnew(first: Reading, readOthers: () => Reading[]) {
  let others: Reading[] | undefined;
  return (isSuch: (reading: Reading) => boolean): boolean => {
    if (isSuch(first)) return true;
    others ??= readOthers();
    return others.some(isSuch);
  };
}

type Reading = ReturnType<typeof proposeSpec>;

function withoutValueFiles(files: TemplateFiles): TemplateFiles {
  return Object.fromEntries(Object.entries(files).filter(([path]) => !isValueFile(posix.basename(path))));
}

/** Whether a schema equals the derived one, or the one that an earlier release would have derived: without messages, or without null. */
function isSameVariable(own: JsonValue | undefined, derived: JsonValue | undefined): boolean {
  if (isSame(own, derived)) return true;
  if (!isJsonObject(derived)) return false;
  const strict = withoutNull(derived);
  const { [messagesKeyword]: messages, ...rules } = strict;
  return isSame(own, strict) || (messages !== undefined && isSame(own, rules));
}

function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  return one !== undefined && other !== undefined && canonicalJson(one) === canonicalJson(other);
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
