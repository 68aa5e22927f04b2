import { tokenize } from '#domain/registry/hcl/tokens.ts';

/**
 * Finds blocks in OpenTofu's language without evaluating it: it skips strings, comments and heredocs, and counts braces. It
 * allows a clear message before anything runs. After `init`, the backend that the tool really uses is checked.
 */

/** Whether a top-level `terraform` block directly contains a block with one of these names. */
export function hasTerraformBlock(text: string, names: readonly string[]): boolean {
  const open: string[] = [];
  let header: string[] = [];
  for (const token of tokenize(text)) {
    if (token === '{') {
      const [name = ''] = header;
      if (open.length === 1 && open[0] === 'terraform' && names.includes(name)) return true;
      open.push(name);
      header = [];
    } else if (token === '}') {
      open.pop();
      header = [];
    } else if (token === '\n') header = [];
    else header.push(token);
  }
  return false;
}

/** The same check for a JSON file. Invalid JSON is left for the tool to refuse. */
export function hasTerraformMember(text: string, names: readonly string[]): boolean {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return false;
  }
  const blocks = [memberOf(root, 'terraform')].flat(1);
  return blocks.some((block) => names.some((name) => memberOf(block, name) !== undefined));
}

function memberOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((item) => memberOf(item, name)).find((member) => member !== undefined);
  if (typeof value !== 'object' || value === null) return undefined;
  return new Map<string, unknown>(Object.entries(value)).get(name);
}
