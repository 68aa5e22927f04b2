import type { TemplateFiles } from '../files.ts';
import { type FoundBlock, findBlocks } from './blocks.ts';
import { findWorkspaceUse } from './references.ts';
import { allConfigurationFiles, type ConfigurationFile, configurationFiles, withDifferentTexts } from './root-files.ts';
import { scanHcl } from './tokens.ts';

/** What a configuration says about its state and workspaces that has no effect here, because the service keeps the state. Pure. */

export interface ConfigurationNote {
  /** The path among the template's files. */
  readonly file: string;
  /** 1 for the first; null if it is not known. */
  readonly line: number | null;
  /** For people, without a full stop at its end. */
  readonly message: string;
}

const maxNotes = 100;
const workspaceName = /\bworkspace\b/;
/** The distance is bounded, so that hostile text takes no longer. */
const inTemplate = /[$%]\{[^}]{0,500}\b(?:terraform|tofu)\s*\.\s*workspace\b/;

/**
 * Finds the `backend` and `cloud` blocks of the root module, and what depends on the name of the workspace, which is always
 * `default`, in all files. `directory` is the root module's among the files (`''`: the root).
 */
export function findStateNotes(files: TemplateFiles, directory = ''): ConfigurationNote[] {
  const notes: ConfigurationNote[] = [];
  for (const file of withDifferentTexts(configurationFiles(files, directory))) {
    for (const found of findBlocks(file)) notes.push(...noteOfBlock(file.path, found));
    if (notes.length >= maxNotes) break;
  }
  for (const file of allConfigurationFiles(files)) if (notes.length < maxNotes) notes.push(...noteOfUse(file));
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

/** The first use in a file. */
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
