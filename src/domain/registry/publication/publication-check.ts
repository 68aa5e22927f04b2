import { Unprocessable } from '#domain/shared/errors.ts';
import { formatPath } from '#domain/shared/validation/field-path.ts';
import { escapePointer, splitPointer } from '#domain/shared/values/json-pointer.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';
import { readLiteral } from '#domain/sources/hcl/literals.ts';
import { type Module, readDeclarations } from '#domain/sources/hcl/module.ts';
import { moduleDirectory, readModuleFiles, readModules } from '#domain/sources/hcl/module-files.ts';
import { configurationFiles, configurationSize } from '#domain/sources/hcl/root-files.ts';
import { findRemoteStates, findStateNotes } from '#domain/sources/hcl/state-notes.ts';
import { type FileValues, readFileValues } from '#domain/sources/hcl/value-files.ts';
import { type FilesTools, isEmptyDemand } from '#domain/tools/demand.ts';
import type { ToolName } from '#domain/tools/model.ts';
import type { CheckFinding } from '../checks/model.ts';
import type { TemplateSpec } from '../spec.ts';
import { readFilesTools } from '../tools/files-tools.ts';
import { demandOf, filesToolsOf, toolsThatMayRun } from '../tools/usable-tools.ts';
import { secretNames } from '../variables/variables.ts';
import { propertiesOf } from '../variables/walk.ts';

export interface CheckResult {
  readonly errors: readonly CheckFinding[];
  readonly warnings: readonly CheckFinding[];
}

/** The maximum size of the files that are checked, in UTF-16 units. */
export const maxCheckedSize = 2 * 1024 * 1024;
const maxFindings = 100;

/**
 * Compares a spec with its files without running anything. A problem counts as an error only if it stops every tool that may run the
 * version. The time is proportional to the size of the files.
 */
export function checkVersion(spec: TemplateSpec, files: TemplateFiles): CheckResult {
  if (spec.executor.kind !== 'opentofu') return { errors: [], warnings: [] };
  const directory = spec.executor.git?.path ?? '';
  if (configurationSize(files) > maxCheckedSize) {
    const message = 'the configuration is too large to be checked before a run';
    return { errors: [], warnings: [{ path: '/executor', message }] };
  }
  const filesTools = filesToolsOf(spec, files);
  const unusable = findUnusableTool(spec, filesTools);
  if (unusable) return { errors: [unusable], warnings: [] };
  const notes = findStateNotes(files, directory, Object.keys(spec.remote_states ?? {})).map(toFinding);
  const results = toolsThatMayRun(spec, filesTools).map((tool) => checkForTool(spec, files, directory, tool));
  const [first, ...others] = results;
  const isCommon = (finding: CheckFinding) =>
    others.every(({ errors }) => errors.some((each) => JSON.stringify(each) === JSON.stringify(finding)));
  return {
    errors: [...(first?.errors ?? []).filter(isCommon), ...findUnmatched(spec, files, directory)].slice(0, maxFindings),
    warnings: [...(first?.warnings ?? []), ...notes].slice(0, maxFindings),
  };
}

/** Warns about names in `remote_states` for which the root module has no data source. */
function findUnmatched(spec: TemplateSpec, files: TemplateFiles, directory: string): CheckFinding[] {
  const present = configurationFiles(files, directory).flatMap(findRemoteStates);
  const unknown = Object.keys(spec.remote_states ?? {}).filter((name) => !present.some((each) => each.name === name));
  return unknown.map((name) => ({
    path: `/remote_states/${escapePointer(name)}`,
    message: `the files have no data source "terraform_remote_state" "${name}" in the root module`,
  }));
}

/** @throws Unprocessable with every error */
export function refuseBroken({ errors }: Pick<CheckResult, 'errors'>): void {
  if (errors.length === 0) return;
  const described = errors.map((error) => ({ in: 'body', ...error, path: toFieldPath(error.path) }));
  throw new Unprocessable(errors.map(describeFinding).join('; '), {
    code: 'configuration_invalid',
    details: { errors: described },
  });
}

/** A finding as a sentence without a full stop. */
function describeFinding({ path, file, line, message }: CheckFinding): string {
  const place = file === undefined ? toFieldPath(path) : file;
  return `${place}${line === undefined ? '' : `, line ${line}`}: ${message}`;
}

/** The error for a spec and files that demand tools which exclude each other: such a version could never run. */
function findUnusableTool(spec: TemplateSpec, files: FilesTools): CheckFinding | null {
  const demand = demandOf(spec, files);
  return demand !== null && isEmptyDemand(demand)
    ? { path: '/tool', message: `no tool can run this: ${demand.conflict}` }
    : null;
}

/**
 * The path of a finding in the body of a request. Names of variables and outputs may be numbers; elsewhere, numbers count the items of
 * lists.
 */
function toFieldPath(pointer: string): string {
  const parts = splitPointer(pointer);
  const ofNames = ['properties', 'outputs', 'files'];
  return formatPath([
    'spec',
    ...parts.map((part, at) => (/^\d+$/.test(part) && !ofNames.includes(parts[at - 1] ?? '') ? Number(part) : part)),
  ]);
}

function checkForTool(spec: TemplateSpec, files: TemplateFiles, directory: string, tool: ToolName): CheckResult {
  const [root, ...called] = [...readModules(files, directory, tool)].map(readDeclarations);
  if (root === undefined) return { errors: [], warnings: [] };
  const given = readFileValues(files, moduleDirectory('', directory) ?? '');
  const problems = [root, ...called, given].flatMap((module) => module.problems);
  if (problems.length > 0) return { errors: problems.map(toFinding), warnings: [] };
  return { errors: findUnknownNames(spec, root), warnings: findMismatches(spec, root, given) };
}

/** A problem in the files of a version, as a finding of its check. */
export function toFinding({ file, line, message }: Module['problems'][number]): CheckFinding {
  return { path: '/executor', file, ...(line !== null && { line }), message };
}

function findUnknownNames(spec: TemplateSpec, { variables, outputs }: Module): CheckFinding[] {
  const unknown = Object.keys(propertiesOf(spec.variables)).filter((name) => !variables.has(name));
  const missing = Object.keys(spec.outputs).filter((name) => !outputs.has(name));
  return [
    ...unknown.map((name) => ({
      path: `/variables/properties/${escapePointer(name)}`,
      message: `the files declare no variable "${name}"`,
    })),
    ...missing.map((name) => ({
      path: `/outputs/${escapePointer(name)}`,
      message: `the files have no output "${name}"`,
    })),
  ];
}

function findMismatches(spec: TemplateSpec, { variables }: Module, { values }: FileValues): CheckFinding[] {
  const schema = propertiesOf(spec.variables);
  const secrets = secretNames(spec.variables);
  const found: CheckFinding[] = [];
  for (const [name, { file, line, arguments: given }] of variables) {
    const warn = (path: string, message: string) => found.push({ path, file, ...(line !== null && { line }), message });
    const isSensitive = readLiteral(given.get('sensitive')?.value ?? []) === true;
    if (!Object.hasOwn(schema, name) && !given.has('default') && !values.has(name))
      warn('/variables', `the variable "${name}" needs a value, and the schema has none of this name`);
    if (Object.hasOwn(schema, name) && isSensitive && !secrets.has(name))
      warn(
        `/variables/properties/${escapePointer(name)}`,
        `the variable "${name}" is sensitive in the files, and its value is shown: add "writeOnly": true`,
      );
  }
  return found;
}

/**
 * The variables that the configuration in a directory declares as ephemeral: the tool writes them to no plan and no state. Empty if the
 * configuration cannot be read.
 */
export function readEphemeralVariables(files: TemplateFiles, directory = ''): ReadonlySet<string> {
  if (configurationSize(files) > maxCheckedSize) return new Set();
  const tool = readFilesTools(files, directory).needsOpenTofu ? 'opentofu' : 'terraform';
  const { variables, problems } = readDeclarations(readModuleFiles(files, moduleDirectory('', directory) ?? '', tool));
  if (problems.length > 0) return new Set();
  const declared = [...variables].filter(([, { arguments: given }]) => {
    const argument = given.get('ephemeral');
    return argument !== undefined && readLiteral(argument.value) === true;
  });
  return new Set(declared.map(([name]) => name));
}
