import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { JsonObject } from '#domain/shared/values/json.ts';
import { isJsonObject, type JsonValue } from '#domain/shared/values/json.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import { cutText } from '#domain/shared/values/text.ts';
import { isBinary, type TemplateFiles, textOf } from '#domain/sources/files.ts';
import type { NestedBlock } from '#domain/sources/hcl/body.ts';
import { convertToType } from '#domain/sources/hcl/conversions.ts';
import type { Declaration } from '#domain/sources/hcl/declarations.ts';
import { readLiteral } from '#domain/sources/hcl/literals.ts';
import { readDeclarations } from '#domain/sources/hcl/module.ts';
import { moduleDirectory, readModuleFiles } from '#domain/sources/hcl/module-files.ts';
import { configurationSize } from '#domain/sources/hcl/root-files.ts';
import { findStateNotes } from '#domain/sources/hcl/state-notes.ts';
import { readType } from '#domain/sources/hcl/types.ts';
import { translateValidation } from '#domain/sources/hcl/validations.ts';
import { type FileValue, readFileValues } from '#domain/sources/hcl/value-files.ts';
import { readDirectory } from '#domain/sources/links.ts';
import type { FilesTools } from '#domain/tools/demand.ts';
import type { ToolName, WantedTool } from '#domain/tools/model.ts';
import type { CheckFinding } from './checks/model.ts';
import { maxCheckedSize, toFinding } from './publication/publication-check.ts';
import { readFilesTools } from './tools/files-tools.ts';
import { toolsThatMayRun } from './tools/usable-tools.ts';
import { messagesKeyword } from './variables/errors.ts';
import { allowNull } from './variables/nulls.ts';

/** The maximum length of an author's message, since a form shows only a sentence. */
const maxMessage = 500;

/** The variables and outputs that the files of a module declare, as a spec. */
export interface SpecProposal {
  /** The tool for which the files were read. */
  readonly tool: ToolName;
  readonly variables: JsonObject;
  readonly outputs: Record<string, { description?: string; sensitive?: boolean }>;
  /** The text of the README of the module; null if it has none. */
  readonly readme: string | null;
  /** What could not be derived, and other hints. */
  readonly notes: readonly CheckFinding[];
}

/** The path of notes about differences between the tools. */
export const toolPath = '/tool';
/** The note for a default that a form cannot show. */
const notPlain = 'is not a plain value of its type: leaving the variable out uses it';
const outputName = /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/;
const maxDescriptionLength = 1_000;

/**
 * Proposes a schema and outputs from the root module in a directory (`''`: the root), as read by the preferred tool among those that may
 * run the version. A note names each place where the other tool would read something else. Nothing is executed.
 * @param wanted the tool that the version demands
 */
export function proposeSpec(files: TemplateFiles, directory = '', wanted?: WantedTool): SpecProposal {
  const root = moduleDirectory('', directory) ?? '';
  const [tool, ...others] = readersOf(readFilesTools(files, directory), wanted);
  if (configurationSize(files) > maxCheckedSize) {
    const message = 'the configuration is too large to be read: write the schema and the outputs by hand';
    const variables: JsonObject = { type: 'object', properties: {} };
    return { tool, variables, outputs: {}, readme: readmeOf(files, root), notes: [{ path: '/executor', message }] };
  }
  const { notes, ...proposed } = proposeFor(tool, files, root);
  const stateNotes = findStateNotes(files, directory).map(toFinding);
  const otherNotes = others.flatMap((other) => describeOther(proposed, other, files, root));
  return { tool, ...proposed, readme: readmeOf(files, root), notes: [...otherNotes, ...stateNotes, ...notes] };
}

/** The declarations that one tool reads in the files. */
type Reading = Pick<SpecProposal, 'variables' | 'outputs' | 'notes'>;

function proposeFor(tool: ToolName, files: TemplateFiles, root: string): Reading {
  const module = readDeclarations(readModuleFiles(files, root, tool));
  const given = readFileValues(files, root);
  const notes = [...module.problems, ...given.problems].map(toFinding);
  const proposed = [...module.variables].map(
    ([name, each]) => [name, proposeVariable(name, each, given.values.get(name), notes)] as const,
  );
  const required = proposed.filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  const variables: JsonObject = {
    type: 'object',
    properties: Object.fromEntries(proposed.map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required }),
  };
  const outputs = [...module.outputs].filter(([name]) => outputName.test(name));
  return {
    variables,
    outputs: Object.fromEntries(outputs.map(([name, each]) => [name, proposeOutput(each)])),
    notes,
  };
}

/** The tools that may run the version, the preferred one first. If no tool can run the files, the tool for which they were written. */
function readersOf(files: FilesTools, tool: WantedTool | undefined): [ToolName, ...ToolName[]] {
  const [first, ...others] = toolsThatMayRun({ executor: { kind: 'opentofu' }, tool }, files);
  return first === undefined ? [files.needsOpenTofu ? 'opentofu' : 'terraform'] : [first, ...others];
}

/** A note that another tool that may run the version reads other variables or outputs. */
function describeOther(
  read: Omit<Reading, 'notes'>,
  other: ToolName,
  files: TemplateFiles,
  root: string,
): CheckFinding[] {
  const { variables, outputs } = proposeFor(other, files, root);
  if (canonicalJson([variables, outputs]) === canonicalJson([read.variables, read.outputs])) return [];
  const [own, others] = other === 'terraform' ? ['OpenTofu', 'Terraform'] : ['Terraform', 'OpenTofu'];
  const message = `both tools may run the files, and they declare other variables or outputs for ${others}: these are those for ${own}. Name the tool in "tool"`;
  return [{ path: toolPath, message }];
}

function literal({ arguments: given }: Declaration, name: string): JsonValue | undefined {
  const argument = given.get(name);
  return argument && readLiteral(argument.value);
}

/** Adds the author's message about a failed validation to the schema, for each keyword that expresses this validation. */
function withMessage(schema: JsonObject, translated: readonly string[], { body }: NestedBlock): JsonObject {
  const argument = body.arguments.get('error_message');
  const message = argument && readLiteral(argument.value);
  if (typeof message !== 'string' || message.trim() === '') return schema;
  const said = cutText(message.trim(), maxMessage);
  const messages = Object.fromEntries(translated.map((keyword) => [keyword, said]));
  const known = schema[messagesKeyword];
  return { ...schema, [messagesKeyword]: { ...(isJsonObject(known) ? known : {}), ...messages } };
}

/** Proposes the schema of a variable. A value file beside the module takes precedence over the default of the declaration. */
function proposeVariable(
  name: string,
  declaration: Declaration,
  given: FileValue | undefined,
  notes: CheckFinding[],
): { schema: JsonObject; isRequired: boolean } {
  const path = `/variables/properties/${escapePointer(name)}`;
  const note = (message: string, { file, line }: Pick<FileValue, 'file' | 'line'> = declaration) =>
    notes.push({ path, file, ...(line !== null && { line }), message });
  const type = declaration.arguments.get('type');
  const translated =
    type === undefined ? {} : readType(type.value.filter(({ text }, index) => index > 0 || text !== '\n'));
  if (translated === null) note('the type cannot be translated, so the form takes any value');
  const typed = translated ?? {};
  let strict = typed;
  for (const validation of declaration.validations) {
    const keywords = translateValidation(name, validation, strict);
    const { line } = validation;
    if (keywords === null)
      note('this validation cannot be translated: the tool checks it in the run', { ...declaration, line });
    else strict = withMessage({ ...strict, ...keywords }, Object.keys(keywords), validation);
  }
  let schema = allowNull(strict, isNullable(declaration, strict !== typed));
  const description = literal(declaration, 'description');
  if (typeof description === 'string') schema = { ...schema, description: description.trim() };
  const isRequired = given === undefined && !declaration.arguments.has('default');
  const isSecret = literal(declaration, 'sensitive') === true || literal(declaration, 'ephemeral') === true;
  // The schema of a secret has no default: a run without a value uses the default of the files.
  if (isSecret) return { schema: { ...schema, writeOnly: true }, isRequired };
  const written = given ? given.value : literal(declaration, 'default');
  const initial = written == null ? written : convertToType(written, typed);
  if (initial === undefined && given) note(`the value from ${given.file} ${notPlain}`, given);
  else if (initial === undefined && !isRequired) note(`the default ${notPlain}`);
  return { schema: initial == null ? schema : { ...schema, default: initial }, isRequired };
}

/**
 * Whether a variable itself may be null, as the tools decide. A variable that is not nullable gets its default instead of null. All
 * validations that can be translated fail for null.
 */
function isNullable(declaration: Declaration, isValidated: boolean): boolean {
  const nullable = literal(declaration, 'nullable');
  return nullable === false || nullable === 'false' ? declaration.arguments.has('default') : !isValidated;
}

function proposeOutput(declaration: Declaration): { description?: string; sensitive?: boolean } {
  const description = literal(declaration, 'description');
  return {
    ...(typeof description === 'string' && { description: description.trim().slice(0, maxDescriptionLength) }),
    ...(literal(declaration, 'sensitive') === true && { sensitive: true }),
  };
}

function readmeOf(files: TemplateFiles, directory: string): string | null {
  const readme = readDirectory(files, directory).find(({ name }) => name.toLowerCase() === 'readme.md');
  return readme === undefined || isBinary(readme.content) ? null : textOf(readme.content);
}
