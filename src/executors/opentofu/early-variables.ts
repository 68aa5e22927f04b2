import type { TemplateFiles } from '#domain/registry/files.ts';

/** Where OpenTofu evaluates variables before it plans: a module's source or version, and the encryption of state and plan. */
const earlyUse = /^\s*(source|version)\s*=\s*[^\n]*\b(var|local)\.|^\s*encryption\s*\{/m;
const configuration = /\.(tf|tofu)(\.json)?$/;

/**
 * Whether a configuration may need its variables already at `init`. What is found besides in JSON is judged by the words
 * alone. Remote modules are not seen here: where `init` fails without variables, it is tried with them.
 */
export function needsEarlyVariables(files: TemplateFiles): boolean {
  return Object.entries(files).some(([path, content]) => {
    if (!configuration.test(path) || typeof content !== 'string') return false;
    if (path.endsWith('.json'))
      return /"(encryption|source|version)"/.test(content) && /\$\{\s*(var|local)\./.test(content);
    return earlyUse.test(content);
  });
}

/** Whether the template's own files may name programs for an apply to start. Remote modules are not seen here. */
export function mayHaveProvisioners(files: TemplateFiles): boolean {
  return Object.entries(files).some(
    ([path, content]) => configuration.test(path) && (typeof content !== 'string' || content.includes('provisioner')),
  );
}
