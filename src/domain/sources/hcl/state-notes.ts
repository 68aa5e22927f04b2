import type { TemplateFiles } from '../files.ts';
import { type FoundBlock, findBlocks } from './blocks.ts';
import { findWorkspaceUse } from './references.ts';
import { allConfigurationFiles, type ConfigurationFile, configurationFiles, withDifferentTexts } from './root-files.ts';
import { scanHcl } from './tokens.ts';

/**
 * Finds what a configuration says about states and workspaces and what has no or another effect here, because the service stores the state.
 * Pure.
 */

export interface ConfigurationNote {
  /** The path among the template's files. */
  readonly file: string;
  /** The line, starting at 1; null if it is not known. */
  readonly line: number | null;
  /** A message for people, without a full stop at the end. */
  readonly message: string;
}

const maxNotes = 100;
const workspaceName = /\bworkspace\b/;
/** The distance is limited, so that the pattern is fast for hostile text as well. */
const inTemplate = /[$%]\{[^}]{0,500}\b(?:terraform|tofu)\s*\.\s*workspace\b/;

/**
 * Finds the `backend` and `cloud` blocks of the root module. In all files, it finds what depends on the name of the workspace, which is
 * always `default`, and the data sources that read a state from elsewhere, except those of the root module that are `mapped`. `directory`
 * is the root module's directory in the files (`''`: the root).
 */
export function findStateNotes(
  files: TemplateFiles,
  directory = '',
  mapped: readonly string[] = [],
): ConfigurationNote[] {
  const notes: ConfigurationNote[] = [];
  const root = configurationFiles(files, directory);
  for (const file of withDifferentTexts(root)) {
    for (const found of findBlocks(file)) notes.push(...noteOfBlock(file.path, found));
    notes.push(...noteOfRemoteStates(file, mapped, namable));
    if (notes.length >= maxNotes) break;
  }
  const all = allConfigurationFiles(files);
  const called = all.filter(({ path }) => !root.some((file) => file.path === path));
  for (const file of withDifferentTexts(called))
    if (notes.length < maxNotes) notes.push(...noteOfRemoteStates(file, [], unreachable));
  for (const file of all) if (notes.length < maxNotes) notes.push(...noteOfUse(file));
  return notes.slice(0, maxNotes);
}

/** The note as one line of a log. */
export function describeNote({ file, line, message }: ConfigurationNote): string {
  return `${file}${line === null ? '' : `, line ${line}`}: ${message}`;
}

function noteOfBlock(file: string, { parent, block: { type, labels, line, body } }: FoundBlock): ConfigurationNote[] {
  if (parent !== 'terraform') return [];
  const note = (message: string) => [{ file, line, message }];
  const instead = 'the service keeps the state itself';
  if (type === 'cloud') return note(`the cloud block has no effect: ${instead}, and the workspace is "default"`);
  if (type === 'encryption' && body.blocks.some((inner) => inner.type === 'plan'))
    return note(
      'runs fail: reviewers could not be shown a plan that the files encrypt. The service seals plans itself',
    );
  if (type !== 'backend' && type !== 'state_store') return [];
  const name = labels[0] === undefined ? `the ${type} block` : `the ${type} "${labels[0]}"`;
  const partial =
    body.arguments.size + body.blocks.length === 0
      ? '. Settings that complete it elsewhere, such as in -backend-config files, are not used either'
      : '';
  return note(`${name} has no effect: ${instead}${partial}`);
}

const namable = 'let remote_states of the spec name an instance, whose outputs it is then given';
const unreachable = 'remote_states of the spec reaches only those of the root module';

function noteOfRemoteStates(file: ConfigurationFile, mapped: readonly string[], advice: string): ConfigurationNote[] {
  return findRemoteStates(file)
    .filter(({ name }) => !mapped.includes(name))
    .map(({ name, line }) => ({
      file: file.path,
      line,
      message: `data.terraform_remote_state.${name} reads a state with what credentials the run has: ${advice}`,
    }));
}

/** The data sources `terraform_remote_state` of a file. */
export function findRemoteStates(file: ConfigurationFile): { readonly name: string; readonly line: number }[] {
  return [...findBlocks(file)].flatMap(({ parent, block: { type, labels, line } }) => {
    const [kind, name] = labels;
    const isRemote = parent === null && type === 'data' && kind === 'terraform_remote_state';
    return isRemote && name !== undefined ? [{ name, line }] : [];
  });
}

/** A note for the first use in a file. */
function noteOfUse(file: ConfigurationFile): ConfigurationNote[] {
  const line = file.name.endsWith('.json') ? lineInJson(file.text) : lineInHcl(file.text);
  if (line === null) return [];
  return [
    { file: file.path, line, message: 'terraform.workspace is "default" in every run: give the value by a variable' },
  ];
}

function lineInJson(text: string): number | null {
  return text.split('\n').findIndex((line) => inTemplate.test(line)) + 1 || null;
}

function lineInHcl(text: string): number | null {
  return workspaceName.test(text) ? findWorkspaceUse(scanHcl(text).tokens) : null;
}
