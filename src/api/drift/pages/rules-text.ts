import type { IgnoreRule } from '#domain/drift/monitors/ignore-rules.ts';

/** Rules as people write them: one on each line, an address and an attribute with a space between them. */
export function textOf(rules: readonly IgnoreRule[]): string {
  return rules.map(({ address, path }) => (path === '*' ? address : `${address} ${path}`)).join('\n');
}

/** Reads such lines. The first space outside of brackets ends the address: keys of resources stand in brackets, and may contain spaces. */
export function rulesOf(text: string): IgnoreRule[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').map(toRule);
}

function toRule(line: string): IgnoreRule {
  const at = findGap(line);
  if (at === -1) return { address: line, path: '*' };
  return { address: line.slice(0, at).trim(), path: line.slice(at).trim() };
}

/** The place of that space; -1 if there is none. */
function findGap(line: string): number {
  let depth = 0;
  for (const [index, sign] of [...line].entries()) {
    if (sign === '[') depth += 1;
    if (sign === ']') depth -= 1;
    if (sign === ' ' && depth <= 0) return index;
  }
  return -1;
}
