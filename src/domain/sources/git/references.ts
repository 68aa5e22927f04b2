import { posix } from 'node:path';
import { readFile } from '../hcl/blocks.ts';
import { sourcesIn } from '../hcl/module-files.ts';
import { expressionsOf } from '../hcl/references.ts';
import { isJson } from '../hcl/root-files.ts';
import { scanHcl } from '../hcl/tokens.ts';

/** Finds the paths outside its own directory that a configuration names, from its text alone. Pure. */

const configuration = /\.(tf|tofu)(\.json)?$|\.tfvars(\.json)?$|\.tftest\.hcl$/;
const jsonString = /"(?:[^"\\\n]|\\[^\n]){1,1000}"/g;
const maxLength = 1_000;
const moduleDirectory = /^\$\{\s*path\.module\s*\}\//;
const startDirectory = /^\$\{\s*path\.(?:root|cwd)\s*\}\//;
/** A word of a command. The directory before a path may be written with spaces. */
const words = /(?:\$\{\s*path\.\w+\s*\}|[^\s"'`=;|&<>(),\\])+/g;
/** A path through `..` to something with a name: `cd ..` names nothing of which the command would need a copy. */
const namedAbove = /\.\.\/+(?!\.\.?(?:\/|$))[^/]/;

/** The directories of the local modules that a file calls, as paths from the root of the repository. */
export function localSources(path: string, content: Buffer): string[] {
  if (!/\.(tf|tofu)(\.json)?$/.test(path)) return [];
  const { body } = readFile({ name: path, text: content.toString() });
  return sourcesIn(body).flatMap((source) => within(posix.dirname(path), source.split('//')[0] ?? ''));
}

/**
 * The files and directories that the strings of a configuration file may name by a path with `..` in it: the arguments of `file`,
 * `templatefile`, `fileset` and of resources, directly or by a local value, and the words of commands. For a string with an interpolation, it
 * is the directory before the interpolation.
 * @param root the directory of the root module, in which the tool starts
 */
export function pathsBeside(path: string, content: Buffer, root: string): string[] {
  if (!configuration.test(path)) return [];
  const found = new Set<string>();
  for (const text of isJson(path) ? textsInJson(content.toString()) : textsIn(content.toString())) {
    if (text.length > maxLength || !text.includes('..') || text.includes('://')) continue;
    const bases = startDirectory.test(text)
      ? [root]
      : [posix.dirname(path), ...(moduleDirectory.test(text) ? [] : [root])];
    const literal = text.replace(moduleDirectory, '').replace(startDirectory, '');
    const end = literal.search(/[$%]\{/);
    const named = end < 0 ? literal : literal.slice(0, literal.lastIndexOf('/', end) + 1);
    if (!/(^|\/)\.\.(\/|$)/.test(named)) continue;
    for (const base of bases) for (const each of within(base, named)) found.add(each);
  }
  return [...found];
}

/** The quoted texts as they are written, including those inside templates of other texts, and the words of texts and heredocs. */
function* textsIn(content: string): Generator<string> {
  for (const tokens of expressionsOf(scanHcl(content).tokens)) {
    for (const { kind, text } of tokens) {
      if (kind === 'string') yield text.slice(1, -1);
      if (kind === 'string' || kind === 'heredoc') yield* wordsIn(text);
    }
  }
}

function* wordsIn(text: string): Generator<string> {
  if (!text.includes('..')) return;
  for (const [word] of text.matchAll(words)) if (namedAbove.test(word)) yield word;
}

/** The texts in JSON. A JSON string corresponds to a quoted text of the language, and may contain further texts in its templates. */
function* textsInJson(content: string): Generator<string> {
  for (const [written] of content.matchAll(jsonString)) {
    if (!written.includes('..')) continue;
    const text = readJsonString(written);
    yield text;
    if (text.includes('${')) yield* textsIn(`<<TEXT\n${text}\nTEXT\n`);
    else yield* wordsIn(text);
  }
}

function readJsonString(written: string): string {
  try {
    return String(JSON.parse(written));
  } catch {
    return '';
  }
}

/** A relative path from a directory, as a path from the root of the repository (`''`); empty if it leaves the repository. */
function within(directory: string, relative: string): string[] {
  const path = posix.normalize(posix.join(directory === '' ? '.' : directory, relative)).replace(/\/+$/, '');
  if (path === '..' || path.startsWith('../') || path.startsWith('/')) return [];
  return [path === '.' ? '' : path];
}
