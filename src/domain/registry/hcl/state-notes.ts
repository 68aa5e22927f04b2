import type { TemplateFiles } from '../files.ts';
import { type Block, findBlocks } from './blocks.ts';
import { allConfigurationFiles, type ConfigurationFile, configurationFiles } from './root-files.ts';
import { tokenizeHcl } from './tokens.ts';

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
const workspaceName = /\b(?:terraform|tofu)\s*\.\s*workspace\b/;
/** The distance is bounded, so that hostile text takes no longer. */
const inTemplate = /[$%]\{[^}]{0,500}\b(?:terraform|tofu)\s*\.\s*workspace\b/;

/**
 * Finds the `backend` and `cloud` blocks of the root module, and what depends on the name of the workspace, which is always
 * `default`, in all files. `directory` is the root module's among the files (`''`: the root).
 */
export function findStateNotes(files: TemplateFiles, directory = ''): ConfigurationNote[] {
  const blocks = configurationFiles(files, directory).flatMap((file) =>
    findBlocks(file).flatMap((block) => noteOfBlock(file.path, block)),
  );
  const uses = allConfigurationFiles(files).flatMap(noteOfUse);
  return [...blocks, ...uses].slice(0, maxNotes);
}

/** The note as one line of a log. */
export function describeNote({ file, line, message }: ConfigurationNote): string {
  return `${file}${line === null ? '' : `, line ${line}`}: ${message}`;
}

function noteOfBlock(file: string, { type, labels, line, parent, isEmpty }: Block): ConfigurationNote[] {
  if (parent !== 'terraform') return [];
  const note = (message: string) => [{ file, line, message }];
  const instead = 'the service keeps the state itself';
  if (type === 'cloud') return note(`the cloud block has no effect: ${instead}, and the workspace is "default"`);
  if (type !== 'backend' && type !== 'state_store') return [];
  const name = labels[0] === undefined ? `the ${type} block` : `the ${type} "${labels[0]}"`;
  const partial = isEmpty
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
  if (!workspaceName.test(text)) return null;
  let before: string[] = [];
  for (const { kind, text: token, line } of tokenizeHcl(text)) {
    if (kind === 'string' || kind === 'heredoc') {
      const found = inTemplate.exec(token);
      if (found) return line + token.slice(0, found.index + found[0].length).split('\n').length - 1;
    }
    if (token === 'workspace' && /(^|[^.])\s(terraform|tofu) \.$/.test(` ${before.join(' ')}`)) return line;
    before = [...before, token.slice(-20)].slice(-3);
  }
  return null;
}
