import { posix } from 'node:path';

/** What a configuration names beside its own directory, read from its text alone. Pure. */

/** Where a module refers to another one by a relative path: `source = "../network"`, in HCL or in JSON. */
const localSource = /\bsource"?\s{0,200}[=:]\s{0,200}"(\.{1,2}(?:\/[^"\n]{0,500})?)"/g;
const configuration = /\.(tf|tofu)(\.json)?$|\.tfvars(\.json)?$|\.tftest\.hcl$/;
/** The text of a string in quotes. A quote inside an interpolation ends it early, which leaves its beginning. */
const quoted = /"((?:[^"\\\n]|\\[^\n]){1,1000})"/g;
const moduleDirectory = /^\$\{\s*path\.module\s*\}\//;
const startDirectory = /^\$\{\s*path\.(?:root|cwd)\s*\}\//;

/** The directories of the local modules that a file calls, as paths from the root of the repository. */
export function localSources(path: string, content: Buffer): string[] {
  if (!/\.(tf|tofu)(\.json)?$/.test(path)) return [];
  const sources = [...content.toString().matchAll(localSource)].map(([, source = '']) => source.split('//')[0] ?? '');
  return sources.flatMap((source) => within(posix.dirname(path), source));
}

/**
 * The files and directories that the strings of a configuration file may name by a path with `..` in it: what `file`, `templatefile`, `fileset` and the
 * arguments of resources get, directly or by a local value. Of a string with an interpolation, the directory before it.
 * @param root the directory of the root module, in which the tool starts
 */
export function pathsBeside(path: string, content: Buffer, root: string): string[] {
  if (!configuration.test(path)) return [];
  const found = new Set<string>();
  for (const [, text = ''] of content.toString().matchAll(quoted)) {
    if (!text.includes('..') || text.includes('://')) continue;
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

/** A relative path from a directory, as a path from the root of the repository (`''`); nothing if it leaves the repository. */
function within(directory: string, relative: string): string[] {
  const path = posix.normalize(posix.join(directory === '' ? '.' : directory, relative)).replace(/\/+$/, '');
  if (path === '..' || path.startsWith('../') || path.startsWith('/')) return [];
  return [path === '.' ? '' : path];
}
