import { isBinary, type TemplateFiles, textOf } from '#domain/sources/files.ts';
import { readFiles } from '#domain/sources/links.ts';

/** Finds what OpenTofu evaluates before it plans: module sources and versions, and the encryption of state and plan. */
const evaluatedAtInit = /^\s*(source|version)\s*=\s*[^\n]*\b(var|local)\.|^\s*encryption\s*\{/m;
const configuration = /\.(tf|tofu)(\.json)?$/;

/**
 * Whether a configuration may need its variables already at `init`. In JSON, only the words are searched. Remote modules cannot be seen
 * here: if `init` fails without variables, it is repeated with them.
 */
export function needsVariablesAtInit(files: TemplateFiles): boolean {
  return readFiles(files).some(({ path, content: file }) => {
    if (!configuration.test(path) || isBinary(file)) return false;
    const content = textOf(file);
    if (path.endsWith('.json'))
      return /"(encryption|source|version)"/.test(content) && /\$\{\s*(var|local)\./.test(content);
    return evaluatedAtInit.test(content);
  });
}

/** Whether the template's own files may make an apply start programs. Remote modules cannot be seen here. */
export function mayHaveProvisioners(files: TemplateFiles): boolean {
  return readFiles(files).some(
    ({ path, content: file }) => configuration.test(path) && (isBinary(file) || textOf(file).includes('provisioner')),
  );
}
